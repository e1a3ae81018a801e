"""One file per registry entry, named after its id; see docs/catalog.md."""
