"""The report of `fullgraph fix`."""
