"""A `WhereReport`: where to apply `torch.compile`."""
