"""Registry `Row`s: a list of entries."""
