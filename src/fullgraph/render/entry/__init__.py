"""An entry of the registry as text."""
