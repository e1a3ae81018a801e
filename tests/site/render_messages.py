"""Runs examples of the catalog with fullgraph=True and prints what torch says, as JSON by id.

A process of its own: compiling leaves traces in the one that does it.
"""

from __future__ import annotations

import json
import logging
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO

import torch


def message_of(identifier: str) -> str:
    """The message of the error that the example raises; empty if it raises none."""
    module = import_module(f"fullgraph.catalog.entries.{identifier.lower()}")
    options = {"backend": "eager", **getattr(module, "COMPILE", {}), "fullgraph": True}
    torch._dynamo.reset()
    torch.manual_seed(0)
    inputs = module.inputs()
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    with torch._dynamo.config.patch(**getattr(module, "CONFIG", {})):
        try:
            torch.compile(module.breaks, **options)(*arguments)
        except Exception as error:
            return str(error)
    return ""


def main(identifiers: list[str]) -> None:
    logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
    found = {}
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        for identifier in identifiers:
            try:
                found[identifier] = message_of(identifier)
            except Exception as error:  # an example can need a package that is not here
                found[identifier] = f"not run: {error!r}"
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
