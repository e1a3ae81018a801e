"""The report of `fullgraph fix`.

model.py  the structs; docs/fix-format.md describes them as JSON
build.py  from the result of a search to a report
diff.py   unified diffs of edited files
"""
