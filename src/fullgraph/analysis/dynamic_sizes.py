"""Dynamic sizes: since when and why each is dynamic, and which line specialized it although."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fullgraph.analysis.occurrences import qualified_name
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Code, DynamicSize, Frame, Recompile, Sizes
from fullgraph.model.report import DynamicSizeFinding

_LOOP = re.compile(r"\bfor\b.*\brange\(")
# Dynamo compiles a size of 0 or 1 as a constant, whatever it is marked as.
_ALWAYS_CONSTANT = (0, 1)
_UNBACKED = "pass at least 2, or mark the size as unbacked if no code decides by it"


class _Compiled(NamedTuple):
    """A dynamic size in one compile."""

    compile: str
    size: DynamicSize


def sizes_by_compile(state: AnalysisState) -> dict[CompileKey, tuple[DynamicSize, ...]]:
    """Return the dynamic sizes of each compile, by process and compile id."""
    return {(process, event.compile): event.sizes for process, event in state.events(Sizes)}


def list_dynamic_sizes(state: AnalysisState) -> tuple[DynamicSizeFinding, ...]:
    """Return each size once, in the order in which they became dynamic."""
    grouped: dict[tuple[Code, str, int | None], list[_Compiled]] = {}
    for _, event in state.events(Sizes):
        for size in event.sizes:
            key = (event.code, size.source, size.dim)
            grouped.setdefault(key, []).append(_Compiled(event.compile, size))
    return tuple(_finding(state, code, sizes) for (code, _, _), sizes in grouped.items())


def _finding(state: AnalysisState, code: Code, compiled: Sequence[_Compiled]) -> DynamicSizeFinding:
    first = compiled[0].size
    specialized = [each.size for each in compiled if each.size.specialized_to is not None]
    shown = _shown_frame(state, specialized[0]) if specialized else None
    because, advice = _explain(specialized[0], shown) if specialized else ("", "")
    constants = [size.specialized_to for size in specialized if size.specialized_to is not None]
    return DynamicSizeFinding(
        function=code.function,
        qualified=qualified_name(code),
        file=code.file,
        line=code.line,
        owner=state.owners.owner_of(code.file),
        source=first.source,
        name=first.name,
        dim=first.dim,
        why=first.why,
        since=compiled[0].compile,
        value=first.value,
        before=first.before if first.before is not None else _before(state, compiled[0]),
        specialized_to=tuple(dict.fromkeys(constants)),
        specialized_at=shown,
        because=because,
        advice=advice,
    )


def _before(state: AnalysisState, compiled: _Compiled) -> int | float | None:
    """Return the value of the compile before, from the guard that failed; None if unknown."""
    size = compiled.size
    for _, event in state.events(Recompile):
        if event.compile != compiled.compile:
            continue
        for failure in event.failures:
            for change in failure.changes:
                if (change.source, change.dim) == (size.source, size.dim):
                    return int(change.before) if change.before.isdecimal() else None
    return None


def _shown_frame(state: AnalysisState, size: DynamicSize) -> Frame | None:
    """Return the line to look at: the innermost of the user or of a library."""
    if not size.stack:
        return None
    inner = size.stack[-1]
    return state.owners.shown_frame(inner, size.stack) or inner


def _explain(size: DynamicSize, line: Frame | None) -> tuple[str, str]:
    """Return why a size became a constant, and the change that avoids it."""
    number = size.specialized_to
    if line is None and number in _ALWAYS_CONSTANT:
        # An automatic size has changed before, so the first call is not to blame.
        is_first = size.why not in ("automatic", "profile")
        return (
            f"it is {number}, and sizes of 0 and 1 are always constants",
            "make the first call with a size of at least 2" if is_first else _UNBACKED,
        )
    if size.in_backend or line is None:
        return (
            "the backend needs a constant",
            "compile with another backend to see whether it does, or leave the size static",
        )
    used = _uses_of(line.code, number)
    if used.is_compared:
        return (
            f"the line compares it with {number}",
            "compare with < or >=, which keeps the size dynamic, or leave the size static",
        )
    if used.is_argument:
        return (
            f"{number} is written in the line",
            f"use the size instead of {number}: {_expression(size)}",
        )
    if _LOOP.search(line.code):
        return (
            "the loop is unrolled, which needs a number of iterations",
            "replace the loop by an operation on the whole tensor, or leave the size static",
        )
    return _explain_equal(size)


class _Uses(NamedTuple):
    """How a line uses a number that is written in it."""

    is_compared: bool = False
    is_argument: bool = False


def _uses_of(code: str, number: object) -> _Uses:
    """Return how a line of code uses a number; not at all if it is not a whole statement."""
    text = f"{code} pass" if code.endswith(":") else code
    try:
        nodes = list(ast.walk(ast.parse(text.removeprefix("el"))))
    except SyntaxError:
        return _Uses()
    return _Uses(
        is_compared=any(_compares_with(node, number) for node in nodes),
        is_argument=any(
            _is_number(argument, number)
            for node in nodes
            if isinstance(node, ast.Call)
            for argument in _arguments(node)
        ),
    )


def _compares_with(node: ast.AST, number: object) -> bool:
    return (
        isinstance(node, ast.Compare)
        and any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops)
        and any(_is_number(each, number) for each in (node.left, *node.comparators))
    )


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call, and the elements of those that are tuples or lists."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield argument
        if isinstance(argument, ast.Tuple | ast.List):
            yield from argument.elts


def _is_number(node: ast.expr, number: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def _explain_equal(size: DynamicSize) -> tuple[str, str]:
    """Return the advice for a size that is equal to a static one, or used as a number."""
    equal = next((each for each in size.equal_to if each.dim is not None), None)
    if size.dim is not None and equal is not None and not equal.is_parameter:
        return (
            f"{equal.name}.size({equal.dim}) is static and {size.specialized_to} as well",
            "if both change together, mark both: "
            f"torch._dynamo.mark_dynamic({equal.name}, {equal.dim})",
        )
    if equal is not None and equal.is_parameter:
        return (
            f"{equal.name} is a parameter with the size {size.specialized_to}",
            "if the line combines both, no other size is possible: leave the size static",
        )
    what = "number" if size.dim is None else "size"
    return (
        "the line needs a number of Python, such as an index, a key or a part of a string",
        f"compute with the {what} instead, or leave the {what} static",
    )


def _expression(size: DynamicSize) -> str:
    return size.name if size.dim is None else f"{size.name}.size({size.dim})"
