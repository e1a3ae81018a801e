"""Entries of `torch._dynamo.config`, as data, as they are set, and as lines to add to a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

# These hold functions, which plans name as `module:qualified.name`.
OF_FUNCTIONS = ("reorderable_logging_functions", "ignore_logging_functions")


@contextmanager
def settings_hold(settings: dict[str, Any]) -> Iterator[None]:
    """Until the end of the block."""
    import torch._dynamo

    config: Any = torch._dynamo.config
    values = {
        name: {*getattr(config, name), *map(_function, value)} if name in OF_FUNCTIONS else value
        for name, value in settings.items()
    }
    with config.patch(values) if values else nullcontext():
        yield


def _function(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def lines_of(settings: dict[str, Any]) -> list[str]:
    """What a program has to say to get the same."""
    lines = []
    for name, value in sorted(settings.items()):
        if name in OF_FUNCTIONS:
            lines += [f"torch._dynamo.config.{name}.add({_spelled(each)})" for each in value]
        else:
            lines.append(f"torch._dynamo.config.{name} = {value!r}")
    return lines


def modules_of(settings: dict[str, Any]) -> list[str]:
    """What those lines need imported."""
    functions = [each for name in OF_FUNCTIONS for each in settings.get(name, ())]
    modules = {each.partition(":")[0] for each in functions} - {"builtins"}
    return sorted({"torch._dynamo", *modules})


def _spelled(name: str) -> str:
    module, _, path = name.partition(":")
    return path if module == "builtins" else f"{module}.{path}"
