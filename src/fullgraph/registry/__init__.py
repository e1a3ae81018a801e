"""The graph-break registry of torch: read, download, compare and search it."""
