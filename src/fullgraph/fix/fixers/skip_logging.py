"""Skips printing, logging and warnings in compiled code.

What it does: puts the statement under `if not torch.compiler.is_compiling():`, together with
everything that is computed only for it. A check whose only consequence is output is skipped as a
whole. A time or a statistic that is computed only to be printed or logged is skipped as well.

Why it breaks: output is a side effect, which ends a graph. So does the value of a tensor that is
read only to be printed. `torch.compiler.is_compiling()` is a constant during tracing, so that the
statement does not appear in the graph.

Safety: dropped. The output in eager mode is the same as before; compiled code has none.

Not applied when: evaluating the arguments does more than produce output. Examples are random
numbers, an iterator that advances, a name that is bound, a call of an unknown function, and a
possible exception (a division, a key that may be missing).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._output_calls import (
    is_output,
    only_outputs,
    require_removable_output,
    statements_for_output,
)
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import BUILTIN_OPERATOR
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, indent_under, replace_node
from fullgraph.fix.source.locate import body_around, statements_at
from fullgraph.fix.source.text import owns_its_lines

TITLE = "printing and logging → skipped in compiled code"
KIND = "rewrite"
SAFETY = "dropped"
# `print` is reported as a builtin.
IDS = (BUILTIN_OPERATOR,)
CATEGORIES = ("side-effects",)
OFFERED_FOR = r"\bprint\b|\bwarn|\b_warnings\b|\blogg|\blog\.|[Ll]ogger\b|\bstd(out|err)\b"
ANY_BREAK = True

_COMPILING = "torch.compiler.is_compiling()"
_HEADER = f"if not {_COMPILING}:"


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the output statements around the break, or that use its result, under a test."""
    here = context.in_user_code()
    if here is None or not here.statements:
        return
    edits = _skip_output(here) or _skip_value_for_output(here)
    if edits:
        yield Candidate(here.file_edits(edits, imports=("import torch",)))


def _skip_output(context: BreakContext) -> tuple[Edit, ...]:
    """Return the edits that skip the output around the break; none if there is no output."""
    innermost, file = context.statements[0], context.file
    around = [each for each in context.statements if only_outputs(each, file)]
    if not around:
        if is_output(innermost, file):
            require_removable_output(innermost, file)
        return ()
    statement = around[-1]
    if isinstance(statement, ast.If):
        return (_extend_test(context, statement.test),)
    _require_own_lines(context.text, statement)
    return indent_under(context.text, _with_neighbors(context, statement), _HEADER)


def _extend_test(context: BreakContext, test: ast.expr) -> Edit:
    """Make a test false in compiled code."""
    written = context.source(test)
    if isinstance(test, ast.BoolOp | ast.IfExp | ast.Lambda) or "\n" in written:
        written = f"({written})"
    return replace_node(context.text, test, f"not {_COMPILING} and {written}")


def _skip_value_for_output(context: BreakContext) -> tuple[Edit, ...]:
    """Return the edits that skip a value which is computed for output, and its output.

    There are none if no output uses the value.
    """
    group = statements_for_output(context.statements[0], context.file) or []
    for each in group:
        _require_own_lines(context.text, each)
    waiting = [each for each in group if not _is_skipped(context, each)]
    # An `elif` cannot stand under a test of its own.
    others = [each for each in waiting if isinstance(each, ast.If) and _is_elif(context, each)]
    extended = [_extend_test(context, each.test) for each in others]
    indented = [
        edit
        for run in _runs_of_neighbors(context, [each for each in waiting if each not in others])
        for edit in indent_under(context.text, run, _HEADER)
    ]
    return (*extended, *indented)


def _is_elif(context: BreakContext, statement: ast.If) -> bool:
    return context.source(statement).startswith("elif")


def _runs_of_neighbors(
    context: BreakContext, statements: list[ast.stmt]
) -> Iterator[list[ast.stmt]]:
    """Yield statements in their order, those that follow each other together."""
    run: list[ast.stmt] = []
    for each in sorted(statements, key=lambda each: each.lineno):
        body = body_around(context.tree, each)
        number = next(n for n, other in enumerate(body) if other is each)
        if run and not (number and body[number - 1] is run[-1]):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _require_own_lines(text: str, statement: ast.stmt) -> None:
    if not owns_its_lines(text, statement):
        raise Declined("another statement is on the same line", statement)


def _is_skipped(context: BreakContext, statement: ast.stmt) -> bool:
    """Return whether an earlier fix has put a statement under the test already."""
    return any(
        isinstance(each, ast.If) and _COMPILING in ast.unparse(each.test)
        for each in statements_at(context.tree, statement.lineno)
    )


def _with_neighbors(context: BreakContext, statement: ast.stmt) -> list[ast.stmt]:
    """Return a statement and the statements next to it that only output as well."""
    body = body_around(context.tree, statement)
    first = last = next(n for n, each in enumerate(body) if each is statement)

    def can_join(number: int) -> bool:
        return (
            0 <= number < len(body)
            and only_outputs(body[number], context.file)
            and owns_its_lines(context.text, body[number])
        )

    while can_join(first - 1):
        first -= 1
    while can_join(last + 1):
        last += 1
    return body[first : last + 1]
