"""A model's categories next to ours: `ai.classify.Comparison`."""
