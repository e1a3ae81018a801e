"""Tools for people who work on fullgraph; nothing in this folder is installed."""
