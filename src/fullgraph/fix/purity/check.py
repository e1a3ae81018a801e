"""Finds a function by its name, reads it, runs it, and says whether it is pure."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.fix.purity.static import Finding, findings_in


class PurityError(FullgraphError):
    """A function that cannot be found, read or run."""


class Verdict(Struct, frozen=True):
    function: str
    file: str
    pure: bool
    findings: tuple[Finding, ...]
    # With what it was run, or why it was not.
    ran: str


def check(function: str, inputs: str | None = None, *, run: bool = True) -> Verdict:
    """`function` is `module:name` or `file.py:name`; the name may be `Class.method`."""
    place, _, name = function.rpartition(":")
    if not place or not name:
        raise PurityError(
            f"{function!r} does not name a function: write MODULE:NAME or FILE.py:NAME"
        )
    path = _file_of(place)
    text = _read(path)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise PurityError(f"{path} is not valid Python: {error}") from None
    found = findings_in(tree, name)
    if found is None:
        raise PurityError(f"{path} has no function {name!r} at its top or in a class of its own")
    observed: list[Finding] = []
    ran = "it was not run"
    if run:
        observed, ran = _run(place, path, tree, name, inputs)
    findings = (*found, *observed)
    return Verdict(function, str(path), not findings, findings, ran)


def _file_of(place: str) -> Path:
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            raise PurityError(f"there is no file {place}")
        return path
    # As with `python -m`: what is in the folder can be imported.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(place)
    except (ImportError, ValueError, AttributeError) as error:
        raise PurityError(f"the module {place} cannot be found: {error}") from None
    if spec is None:
        raise PurityError(f"there is no module {place}")
    if not spec.origin or not spec.origin.endswith(".py"):
        raise PurityError(f"the module {place} is not written in Python, so it cannot be read")
    return Path(spec.origin)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PurityError(f"{path} cannot be read: {error}") from None


def _run(
    place: str, path: Path, tree: ast.Module, name: str, inputs: str | None
) -> tuple[list[Finding], str]:
    has_inputs = any(isinstance(n, ast.FunctionDef) and n.name == "inputs" for n in tree.body)
    if inputs is None and not has_inputs:
        return [], "it was not run: its file has no inputs(), and there is no --inputs"
    module = _loaded(place, path)
    from fullgraph.fix.purity.dynamic import findings_of

    arguments = _arguments(module, inputs)
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise PurityError(f"{place} has no function {name!r} once it is imported")
    shown = "inputs()" if inputs is None else inputs
    seen = findings_of(function, arguments, vars(module))
    raised = f"; it raises {seen.raised}" if seen.raised else ""
    return seen.findings, f"run twice with {shown}{raised}"


def _loaded(place: str, path: Path) -> ModuleType:
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module
    except Exception as error:
        raise PurityError(
            f"{place} cannot be imported: {type(error).__name__}: {error}; --no-run only reads it"
        ) from None


def _arguments(module: ModuleType, inputs: str | None) -> tuple[Any, ...]:
    import torch

    torch.manual_seed(0)
    what = "inputs()" if inputs is None else f"--inputs {inputs}"
    try:
        if inputs is None:
            arguments = module.inputs()
        else:
            arguments = eval(inputs, {"torch": torch, **vars(module)})
    except Exception as error:
        raise PurityError(f"{what} fails: {type(error).__name__}: {error}") from None
    return tuple(arguments) if isinstance(arguments, tuple | list) else (arguments,)
