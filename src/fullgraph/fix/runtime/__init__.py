"""A plan in effect in a running process."""
