"""Removing breaks: candidate patches, and the proof that they are right.

record.py    the calls that reach a compiled function, while the program runs in eager
workshop.py  a process that has run the program, and forks one child for each thing to try
trial.py     what such a child does: patch, run in eager, run compiled, compare
fixers/      one way out a file: from a break to candidate rewrites, settings, ...
peel.py      break after break: try candidates, keep what is proven, look again
patch.py     new source into functions that exist already
"""
