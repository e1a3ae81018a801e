"""A `Category` of graph breaks."""
