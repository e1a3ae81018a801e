"""Prints what a program can see of how it was started."""

import json
import os
import sys

import neighbour

print(
    json.dumps(
        {
            "arguments": sys.argv,
            "path": sys.path,
            "name": __name__,
            "file": __file__,
            "main": sys.modules["__main__"].__dict__.get("__file__"),
            "package": __package__,
            "directory": os.getcwd(),
            "input": sys.stdin.read(),
            "flags": str(sys.flags),
            "original": sys.orig_argv[1:],
            "neighbour": neighbour.NAME,
        }
    )
)
