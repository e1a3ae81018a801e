"""`fullgraph verify`: verifies a change of a program that somebody else wrote.

`patch.py` and `revision.py` read the change, `refusals.py` says what is not verified at all,
`session.py` runs everything, and `report.py` has what it found.
"""
