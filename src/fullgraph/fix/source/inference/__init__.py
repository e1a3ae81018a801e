"""What reading a function tells of its expressions."""
