"""An example of the catalog as text."""
