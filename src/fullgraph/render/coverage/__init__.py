"""A `Coverage`: how many registry entries the catalog has examples for."""
