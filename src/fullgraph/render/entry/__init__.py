"""A registry `Page`: everything known about one entry."""
