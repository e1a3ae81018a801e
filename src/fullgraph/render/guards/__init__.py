"""A `GuardsReport`: what compiled code is guarded on, and what its guards cost."""
