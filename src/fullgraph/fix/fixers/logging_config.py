"""Prints after the graph has run, or skips log calls in compiled code, by configuration.

What it does: adds the function to one of two lists of `torch._dynamo.config`. Dynamo calls the
functions of `reorderable_logging_functions` after the graph, with the values that the graph has
computed. It does not call those of `ignore_logging_functions` in compiled code. The source does
not change.

Why it breaks: `print`, the methods of a logger and `warnings.warn` have side effects, and a side
effect ends a graph.

Safety: reordered for `print` and for a plain warning, dropped for loggers, whose methods Dynamo
cannot call later.

Not applied when: the output would differ. Dynamo drops keyword arguments such as `end=` and
`file=`, and prints a tensor as it is after the graph. A method that returns a result, such as
`isEnabledFor`, is never ignored, because it would return None.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._output_calls import is_log_method
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import BUILTIN_OPERATOR
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.names import names_in, root_of

TITLE = "printing and logging → after the graph, or skipped in compiled code"
KIND = "setting"
SAFETY = "dropped"
# `print` is reported as a builtin.
IDS = (BUILTIN_OPERATOR,)
CATEGORIES = ("side-effects", "dynamo-bugs", "untraced-calls")
OFFERED_FOR = r"\bprint\b|\bwarn|\b_warnings\b|\blogg|\blog\.|[Ll]ogger\b|\bstd(out|err)\b"

# A logger and its method, as the break's context shows them: the class, then the method.
_LOGGER_METHOD = re.compile(r"method: <(\w+) .*?\(\w+\)>\.(\w+),")
_LOGGER_CLASSES = ("Logger", "RootLogger")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the setting for the output function that is called at the break."""
    here = context.in_user_code()
    if here is None:
        return
    logger = _LOGGER_METHOD.search(context.cause.context) if here is context else None
    call = _statement_call(here)
    if logger:
        _require_plain_logging(logger[1], logger[2])
        if call is not None:
            yield _skipped(f"logging:Logger.{logger[2]}")
    elif call is not None:
        yield from _for_function(here, call)


def _require_plain_logging(logger_class: str, method: str) -> None:
    """Decline a method that does anything but write a log record."""
    if logger_class not in _LOGGER_CLASSES:
        raise Declined(f"`{logger_class}` is not a standard logger class")
    if not is_log_method(method):
        raise Declined(f"`{method}` does not only write a log record")


def _for_function(context: BreakContext, call: ast.Call) -> Iterator[Candidate]:
    """Yield the setting for a call of `print`, `warnings.warn` or a function of `logging`."""
    name = context.name(call.func)
    if name == "print":
        _require_same_output_later(context, call)
        yield _reordered("builtins:print")
    elif name == "warnings.warn":
        yield _for_warning(context, call)
    elif name.startswith("logging.") and is_log_method(name.removeprefix("logging.")):
        yield _skipped(name.replace(".", ":"))


def _for_warning(context: BreakContext, call: ast.Call) -> Candidate:
    """Return the setting that keeps a warning if it can be issued later, else the other one."""
    try:
        _require_same_output_later(context, call)
    except Declined:
        return _skipped("warnings:warn")
    return _reordered("warnings:warn")


def _skipped(function: str) -> Candidate:
    name = function.partition(":")[2]
    return Candidate(
        settings={"ignore_logging_functions": [function]},
        title=f"`{name}` → skipped in compiled code",
        safety="dropped",
    )


def _reordered(function: str) -> Candidate:
    name = function.partition(":")[2]
    return Candidate(
        settings={"reorderable_logging_functions": [function]},
        title=f"`{name}` → called after the graph",
        safety="reordered",
    )


def _statement_call(context: BreakContext) -> ast.Call | None:
    """Return the call at the break if it is a statement; None if its result is used."""
    statements = [node.value for node in ast.walk(context.tree) if isinstance(node, ast.Expr)]
    calls = (call for call in context.calls if any(call is each for each in statements))
    return next(calls, None)


def _require_same_output_later(context: BreakContext, call: ast.Call) -> None:
    """Decline a call whose output would differ after the graph.

    The setting applies to all calls of the function, so that none may have other keywords.
    """
    name = ast.unparse(call.func)
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
            dropped = [each.arg or "**" for each in node.keywords if each.arg != "flush"]
            if dropped:
                raise Declined(f"Dynamo would drop the argument `{dropped[0]}` of `{name}`", node)
    if name != "print" and len(call.args) != 1:
        raise Declined("Dynamo would drop the category of the warning", call)
    if context.function is None:
        raise Declined("the call is not in a function", call)
    shown = {name for argument in call.args for name in names_in(argument)}
    mutated = sorted(shown & _mutated_names(context.function))
    if mutated:
        raise Declined(f"`{mutated[0]}` is mutated in place, which the output would show", call)


def _mutated_names(function: ast.FunctionDef) -> set[str]:
    """Return the names whose objects a function may change in place."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=target):
                names.add(root_of(target))
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                names.add(root_of(node))
            case ast.Call(func=ast.Attribute(attr=attr)) if attr.endswith("_"):
                names.add(root_of(node.func))
            case ast.keyword(arg="out", value=value):
                names |= names_in(value)
    return names
