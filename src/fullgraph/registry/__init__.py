"""The graph-break registry: what Dynamo cannot trace, and what kind of thing each entry is."""
