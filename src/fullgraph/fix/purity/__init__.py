"""Whether a function is pure: by reading it (reading.py, table.py) and by running it (running.py).

`check.py` does both for `fullgraph purity`; the escape hatches use `reading.py`.
"""
