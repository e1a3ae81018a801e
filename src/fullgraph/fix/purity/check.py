"""Finds a function by its name and decides whether it is pure, for `fullgraph purity`."""

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
from fullgraph.fix.purity.findings import Finding
from fullgraph.fix.purity.static import static_findings


class PurityError(FullgraphError):
    """The function cannot be found, parsed or run."""


class PurityResult(Struct, frozen=True):
    """The result of the check; `ran` names the arguments of the runs, or why there were none."""

    function: str
    file: str
    pure: bool
    findings: tuple[Finding, ...]
    ran: str


def check(function: str, inputs: str | None = None, *, run: bool = True) -> PurityResult:
    """Check a function, given as `module:name` or `file.py:name`; `name` may be `Class.method`.

    `inputs` is a Python expression for the arguments. Without it, the function `inputs()` of the
    file gives the arguments.
    """
    module, _, name = function.rpartition(":")
    if not module or not name:
        raise PurityError(
            f"{function!r} does not name a function; write MODULE:NAME or FILE.py:NAME"
        )
    path = _source_file(module)
    tree = _parse(path)
    findings = static_findings(tree, name)
    if findings is None:
        raise PurityError(
            f"{path} has no function {name!r}; name a top-level function or Class.method"
        )
    ran = "not run (--no-run)"
    if run:
        observed, ran = _run(module, path, tree, name, inputs)
        findings = [*findings, *observed]
    return PurityResult(function, str(path), not findings, tuple(findings), ran)


def _source_file(module: str) -> Path:
    """Return the file of a module, given as a path or as a dotted name."""
    if module.endswith(".py"):
        path = Path(module)
        if not path.is_file():
            raise PurityError(f"there is no file {module}; check the path")
        return path
    # As with `python -m`, modules in the current folder can be imported.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError) as error:
        raise PurityError(f"the module {module} cannot be found: {error}") from None
    if spec is None:
        raise PurityError(f"there is no module {module}; write a path as FILE.py:NAME")
    if not spec.origin or not spec.origin.endswith(".py"):
        raise PurityError(
            f"the module {module} is not written in Python; its functions cannot be analyzed"
        )
    return Path(spec.origin)


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PurityError(f"{path} cannot be read: {error}") from None
    except (SyntaxError, ValueError) as error:
        raise PurityError(f"{path} is not valid Python: {error}") from None


def _run(
    module_name: str, path: Path, tree: ast.Module, name: str, inputs: str | None
) -> tuple[list[Finding], str]:
    """Run the function twice; return the findings, and one line about the runs."""
    has_inputs = any(
        isinstance(node, ast.FunctionDef) and node.name == "inputs" for node in tree.body
    )
    if inputs is None and not has_inputs:
        return [], "not run: the file has no function inputs(); pass --inputs to run it"
    module = _import(module_name, path)
    # Here, because the static analysis must not import torch.
    from fullgraph.fix.purity.dynamic import dynamic_findings

    arguments = _arguments(module, inputs)
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise PurityError(
            f"{module_name} has no function {name!r} after its import; --no-run does not import it"
        )
    result = dynamic_findings(function, arguments, vars(module))
    shown = "inputs()" if inputs is None else inputs
    raised = f"; it raises {result.raised}" if result.raised else ""
    return result.findings, f"run twice with {shown}{raised}"


def _import(module_name: str, path: Path) -> ModuleType:
    try:
        if not module_name.endswith(".py"):
            return importlib.import_module(module_name)
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
            f"{module_name} cannot be imported: {type(error).__name__}: {error}; "
            "use --no-run to analyze only the source"
        ) from None


def _arguments(module: ModuleType, inputs: str | None) -> tuple[Any, ...]:
    """Return the arguments of the runs; one object that is no tuple or list is one argument."""
    import torch

    torch.manual_seed(0)
    try:
        if inputs is None:
            arguments = module.inputs()
        else:
            arguments = eval(inputs, {"torch": torch, **vars(module)})
    except Exception as error:
        source = "inputs()" if inputs is None else f"--inputs {inputs}"
        raise PurityError(f"{source} raises {type(error).__name__}: {error}") from None
    return tuple(arguments) if isinstance(arguments, tuple | list) else (arguments,)
