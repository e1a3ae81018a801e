"""The result of `fullgraph recompiles`: groups of recompiles with their remedies."""
