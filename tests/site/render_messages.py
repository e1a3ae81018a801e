"""Run examples of the catalog with fullgraph=True and print torch's messages as JSON by id.

This is a separate process, because compiling changes the state of its process.
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
    """Return the message of the error that the example raises; empty if it raises none."""
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
            except Exception as error:  # An example may need a package that is not installed.
                found[identifier] = f"not run: {error!r}"
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
