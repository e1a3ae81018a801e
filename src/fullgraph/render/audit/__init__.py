"""An `Audit`: the information that a registry lacks."""
