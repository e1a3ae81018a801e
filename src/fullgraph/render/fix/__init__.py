"""A fix report as text."""
