"""A `Lesson` of the guide."""
