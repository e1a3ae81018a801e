"""Which models are configured, and whether they answer: `ai.reachability.Reachability`."""
