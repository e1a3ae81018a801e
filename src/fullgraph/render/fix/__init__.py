"""A fix report in each format."""
