"""What one call did, and whether two calls did the same."""
