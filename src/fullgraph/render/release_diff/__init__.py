"""A `Difference`: the entries that changed between two releases."""
