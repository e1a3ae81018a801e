"""The shapes that fixers match. Each file has a dictionary SHAPES, from the names of fixers.

A value is a function that gets a random generator and returns a `Shape`. Shapes are made of what a
fixer reads, and also of what it should refuse.
"""
