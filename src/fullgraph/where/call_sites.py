"""The line of the program that makes a call, and the expressions in that call."""

from __future__ import annotations

import ast
import os
import sys
from itertools import islice
from types import FrameType

import fullgraph
from fullgraph.model.owners import PYTHON, TORCH, YOURS, this_process
from fullgraph.python_source import parse, read_source, source_line
from fullgraph.where.report import CodeLine

_OUR_FOLDER = os.path.join(os.path.dirname(fullgraph.__file__), "")


def calling_line() -> tuple[CodeLine | None, ast.Call | None]:
    """Return the innermost line outside of torch, Python and this package, and its call.

    The call is None if the source is not available, or if the line is that of a decorator.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None, None
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = read_source(file)
    if text is None:
        return CodeLine(file, line, ""), None
    return CodeLine(file, line, source_line(text, line).strip()), _call_at(frame, text)


def _is_internal(file: str) -> bool:
    return (
        file.startswith((_OUR_FOLDER, "<"))
        or this_process().owner_of(file) in (TORCH, PYTHON)
    )  # fmt: skip


def _call_at(frame: FrameType, text: str) -> ast.Call | None:
    """Return the syntax tree of the call that a frame is making; None if there is none."""
    tree = parse(text)
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if tree is None or positions is None:
        return None
    line, end_line, column, end_column = positions
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (
            (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
            == (line, end_line, column, end_column)
        ):
            return node
    return None


def called_expression(call: ast.Call | None) -> str:
    """Return the expression that is called, such as `self.model`; empty if it is not a name."""
    return _dotted(call.func) if call is not None else ""


def name_in_program(value: object) -> str:
    """Return the variable of the user's code, in the callers of this function, that is a value.

    A library may call the user's model under another name. Empty if there is no variable.
    """
    found = ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OUR_FOLDER) and this_process().owner_of(file) == YOURS:
            for names in (frame.f_locals, frame.f_globals):
                found = next((name for name, each in names.items() if each is value), found)
                if found and found != "self":
                    return found
        frame = frame.f_back
    return found


def compiled_expression(call: ast.Call | None) -> str:
    """Return what a call compiles: `model` in `torch.compile(model)` and in `model.compile()`."""
    if call is None:
        return ""
    if call.args:
        return _dotted(call.args[0])
    named = next((each.value for each in call.keywords if each.arg == "model"), None)
    if named is not None:
        return _dotted(named)
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "compile"
    return _dotted(call.func.value) if is_method else ""  # type: ignore[attr-defined]


def _dotted(node: ast.expr) -> str:
    """Return a name with attributes and constant indices; empty for any other expression."""
    match node:
        case ast.Name(id=name):
            return "" if name == "torch" else name
        case ast.Attribute(value=value, attr=attribute):
            inner = _dotted(value)
            return f"{inner}.{attribute}" if inner else ""
        case ast.Subscript(value=value, slice=ast.Constant(value=index)):
            inner = _dotted(value)
            return f"{inner}[{index!r}]" if inner else ""
    return ""
