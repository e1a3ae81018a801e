"""Examples of graph breaks and their fixes, one file per registry entry.

The files are in `entries/` and are found by listing that folder; `docs/catalog.md` describes them.
Reading the catalog imports neither torch nor the examples; running the examples does.
"""
