"""The lessons of the guide, in reading order."""
