"""One file an entry of the registry, named after its id; see docs/catalog.md."""
