"""The executable registry: for each entry an example that breaks, and fixes that do not.

One file an entry in `entries/`, found by walking that folder; `docs/catalog.md` says what goes into
one. Reading the catalog imports neither torch nor the examples; running them does.
"""
