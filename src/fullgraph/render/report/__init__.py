"""A `Report`: the graph breaks of a run."""
