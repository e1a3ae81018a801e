"""A plan in effect in a running process.

activate.py        for `fullgraph run --fix`, fullgraph.compile and trials
hot_patch.py       new code objects for functions that are already loaded
dynamo_config.py   entries of torch._dynamo.config: as data, as a context manager, as source lines
edited_sources.py  edited text in place of files that are imported
"""
