"""Decides whether a function is pure: deterministic, and free of side effects.

`check.py` is the entry point of `fullgraph purity`. It uses `static.py`, which analyzes the source,
and `dynamic.py`, which runs the function. The fixers use `static.py` and `known_functions.py`.

    findings.py          one reason why a function is not pure
    known_functions.py   the table of functions and methods that are known without reading them
    created_objects.py   which local names hold objects that the function has created itself
    static.py            analyzes the source of a function and of the functions it calls
    external_access.py   reports access to files, processes and the network
    dynamic.py           runs the function twice and compares
    check.py             finds a function by its name and does both
"""
