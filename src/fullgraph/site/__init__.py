"""Build a static site from the registry, the catalog and contributed information.

`gather.py` collects everything into a `SiteData` (`model.py`). Each file in `pages/` yields the
outputs of one kind of page. `build.py` renders the outputs that changed and writes them.
"""
