"""A `Report`: one file a format."""
