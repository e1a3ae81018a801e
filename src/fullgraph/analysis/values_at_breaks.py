"""Name the result of a call that breaks the graph and that the resumed function depends on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Break, Code, Frame, GuardChange, SourceLine

_LONGEST_EXPRESSION = 40


def name_at_break(state: AnalysisState, code: Code, change: GuardChange) -> str:
    """Return the name of a changed value, which may be the result of the call at a break.

    `n = x.sum().item()` binds a name to the result. Otherwise the call itself is the name.
    """
    if change.place != "break" or change.name != f"the result of line {code.resumed_at}":
        return change.name
    found = {
        _name_of_result(frame, event.stack.excerpt)
        for _, event in state.events(Break)
        for frame in _frames_of(event, code)
    }
    # With several breaks on one line, it could be the result of each.
    only = found.pop() if len(found) == 1 else None
    return only or change.name


def _frames_of(event: Break, code: Code) -> Iterator[Frame]:
    """Yield the frame of a break in the function itself, on the line where it resumed."""
    root, stack = event.root, event.stack
    if stack.traced != 1 or (root.file, root.function) != (code.file, code.function):
        return
    yield from (frame for frame in stack.frames[-1:] if frame.line == code.resumed_at)


def _name_of_result(frame: Frame, excerpt: tuple[SourceLine, ...]) -> str | None:
    text = next((row.text for row in excerpt if row.number == frame.line), "")
    if frame.column is None or frame.end_column is None or frame.end_line is not None:
        return None
    expression = text[frame.column - 1 : frame.end_column - 1]
    match _statement(text):
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if ast.unparse(value) == _normalized(expression):
            return name
    return expression if 0 < len(expression) <= _LONGEST_EXPRESSION else None


def _statement(text: str) -> ast.stmt | None:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    return body[0] if len(body) == 1 else None


def _normalized(expression: str) -> str:
    try:
        return ast.unparse(ast.parse(expression.strip(), mode="eval"))
    except (SyntaxError, ValueError):
        return expression
