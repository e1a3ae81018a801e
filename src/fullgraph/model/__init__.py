"""The words everything speaks: frozen structs, no torch."""
