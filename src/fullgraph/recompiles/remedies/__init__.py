"""Remedies for recompiles: one file each, found by walking this folder."""
