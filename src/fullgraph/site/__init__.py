"""The registry as a static site: registry, catalog and what people added -> pages.

Facts flow one way: `gather.py` gathers everything into a `Site` (`model.py`), each file in `pages/`
says which outputs a site has and how one is rendered, and `build.py` renders what changed and puts
it in place.
"""
