"""`fullgraph recompiles`: why a program compiles again, and remedies that were replayed.

report.py   the result as frozen structs
remedies/   one file per remedy, found by walking the folder
"""
