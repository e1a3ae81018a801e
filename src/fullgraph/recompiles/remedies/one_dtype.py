"""Convert an argument to one dtype where it is passed.

Offered if the function itself converts the argument to that dtype wherever it uses it, as it does
with token ids and masks: then the conversion only happens earlier, whatever dtype a call passes.
Arithmetic in another dtype would overflow or round differently.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._paths import has_branches
from fullgraph.recompiles.remedies._rewrites import function_source, uses_of
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = ".to(dtype) where the argument is passed"
KIND = "source"
ORDER = 10

_CASTS = {
    "bfloat16": "bfloat16", "bool": "bool", "double": "float64", "float": "float32",
    "half": "float16", "int": "int32", "long": "int64", "short": "int16",
}  # fmt: skip
_DTYPES = frozenset({*_CASTS.values(), "int8", "uint8"})


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change for an argument whose dtype changes."""
    if group.kind != "dtype" or group.place != "argument":
        return
    passed = passed_arguments(group, context, group.source)
    found = function_source(group, context)
    if not passed or passed[0].suffix or found is None:
        return
    dtype = dtype_used(*found, group.name)
    if dtype is not None:
        files = tuple(each.wrapped(f"{{}}.to(torch.{dtype})") for each in passed)
        text = f"pass {passed[0].text}.to(torch.{dtype})"
        yield Candidate(text, where=passed[0].frame, files=files)


def dtype_used(file: SourceFile, function: Function, name: str) -> str | None:
    """Return the dtype to which a function always converts an argument; None if there is none."""
    uses = [_converted(file, use) for use in _uses_before_rebinding(file, function, name)]
    dtypes = {each for each in uses if each != "shape"}
    # In a branch that is not taken, the argument may be no tensor.
    return dtypes.pop() or None if len(dtypes) == 1 and not has_branches(function) else None


def _uses_before_rebinding(file: SourceFile, function: Function, name: str) -> list[ast.Name]:
    """Return the uses of an argument, without those of another value that the name has later.

    A name in a nested function, or one that is bound by anything but one plain assignment, may be
    read before or after it.
    """
    uses = uses_of(function, name)
    body = function.body if isinstance(function.body, list) else []
    stores = [use for use in uses if not isinstance(use.ctx, ast.Load)]
    is_nested = any(file.scope_of(use) is not function for use in uses)
    for index, statement in enumerate(body):
        is_plain = isinstance(statement, ast.Assign) and statement.targets == stores
        if is_plain and isinstance(statement, ast.Assign) and not is_nested:
            later = [node for each in body[index + 1 :] for node in ast.walk(each)]
            return [use for use in uses if use not in (*later, *stores)]
    return uses


def _converted(file: SourceFile, use: ast.Name) -> str:
    """Return the dtype to which a use converts a name, or `shape`; empty for any other use."""
    attribute = file.parents.get(id(use))
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return ""
    if attribute.attr == "shape":
        return "shape"
    call = file.parents.get(id(attribute))
    if not isinstance(call, ast.Call) or call.func is not attribute:
        return ""
    if attribute.attr in _CASTS and not call.args and not call.keywords:
        return _CASTS[attribute.attr]
    match call:
        case ast.Call(func=ast.Attribute(attr="to"), args=[dtype], keywords=[]):
            return _dtype(file, dtype)
        case ast.Call(
            func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword("dtype", dtype)]
        ):
            return _dtype(file, dtype)
    return ""


def _dtype(file: SourceFile, node: ast.expr) -> str:
    name = qualified_name(node, file.imports)
    known = name.removeprefix("torch.")
    known = _CASTS.get(known, known)
    return known if name.startswith("torch.") and known in _DTYPES else ""
