"""Entries of `torch._dynamo.config`: as data, as a context manager, as lines of source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

from fullgraph.fix.model import Settings, SettingValue

# These hold functions, which plans name as `module:qualified.name`.
_FUNCTION_SETS = ("reorderable_logging_functions", "ignore_logging_functions")


@contextmanager
def dynamo_config(settings: Settings) -> Iterator[None]:
    """Set configuration entries until the end of the block."""
    import torch._dynamo

    config: Any = torch._dynamo.config
    values: dict[str, Any] = dict(settings)
    for name in _FUNCTION_SETS:
        if name in settings:
            values[name] = {*getattr(config, name), *map(_function, _functions(settings[name]))}
    with config.patch(values) if values else nullcontext():
        yield


def not_in_effect(settings: Settings) -> list[str]:
    """Return the entries that do not have these values in this process now."""
    import torch._dynamo

    config: Any = torch._dynamo.config
    return [name for name, value in settings.items() if not _is_set(getattr(config, name), value)]


def _is_set(present: Any, value: SettingValue) -> bool:
    if isinstance(value, list):
        return set(map(_function, value)) <= set(present)
    return bool(present == value)


def _functions(value: SettingValue) -> list[str]:
    return value if isinstance(value, list) else []


def _function(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def config_statements(settings: Settings) -> list[str]:
    """Return the statements that set the same entries in a program."""
    lines = []
    for name, value in sorted(settings.items()):
        if name in _FUNCTION_SETS:
            functions = map(_expression, _functions(value))
            lines += [f"torch._dynamo.config.{name}.add({each})" for each in functions]
        else:
            lines.append(f"torch._dynamo.config.{name} = {value!r}")
    return lines


def config_imports(settings: Settings) -> list[str]:
    """Return the import statements that `config_statements` needs."""
    functions = [each for name in _FUNCTION_SETS for each in _functions(settings.get(name, []))]
    modules = {each.partition(":")[0] for each in functions} - {"builtins"}
    return [f"import {module}" for module in sorted({"torch._dynamo", *modules})]


def _expression(name: str) -> str:
    module, _, path = name.partition(":")
    return path if module == "builtins" else f"{module}.{path}"
