"""A `PurityResult`: whether a function is pure."""
