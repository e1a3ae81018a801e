"""A `FixerPage`: what one fixer of `fullgraph fix` does."""
