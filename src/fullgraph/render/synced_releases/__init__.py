"""`Snapshot`s: the registries that `fullgraph registry sync` downloaded."""
