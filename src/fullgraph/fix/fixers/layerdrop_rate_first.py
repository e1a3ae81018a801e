"""Tests the rate of a random layer drop before the random number.

What it does: with `drawn = torch.rand([])`, the test `if drawn < self.layerdrop:` becomes
`if self.layerdrop > 0 and drawn < self.layerdrop:`.

Why it breaks: models that drop whole layers in training draw a random number for each layer and
compare it with a rate. The rate is mostly zero, so that no layer is ever dropped. Dynamo sees a
branch on a tensor's value. The rate is a Python number, and testing it first decides the branch at
trace time.

Safety: exact. `torch.rand` returns numbers from 0 up to 1, and none of them is less than a rate of
0 or below. The number is still drawn, so that later random numbers do not change. If a backend does
not draw it, verification rejects the fix.

Not applied when: the number may be negative, or the result of the comparison is used for more than
a test. With a rate above 0 the break remains.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import DATA_DEPENDENT_BRANCH
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import replace_nodes
from fullgraph.fix.source.names import arguments_of, is_name_chain

TITLE = "random layer drop → rate checked first"
KIND = "rewrite"
SAFETY = "exact"
IDS = (DATA_DEPENDENT_BRANCH,)
CATEGORIES = ()
OFFERED_FOR = r"(?i)rand|drop"


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the comparisons of the test at the break, each with a test of its rate."""
    function = context.function
    if function is None:
        return
    line = context.cause.line
    tests = [each.test for each in ast.walk(function) if isinstance(each, ast.If | ast.IfExp)]
    here = [each for each in tests if each.lineno <= line <= (each.end_lineno or each.lineno)]
    numbers = _RandomNumbers(context, function)
    for whole in (*here, *_values_of_tested_names(here, tests, numbers, function)):
        changes = [
            (comparison, _with_rate_first(context, comparison, whole))
            for comparison in numbers.comparisons_in(whole)
        ]
        if changes:
            yield Candidate(context.file_edits(replace_nodes(context.text, changes)))
            return


class _RandomNumbers:
    """The names of a function that hold random numbers."""

    def __init__(self, context: BreakContext, function: ast.FunctionDef) -> None:
        self._context = context
        self._arguments = {each.arg for each in arguments_of(function)}
        assignments = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
        # From the target of an assignment to the function that draws its value.
        drawn = {
            id(each.targets[0]): self._drawn_by(each.value)
            for each in assignments
            if len(each.targets) == 1
        }
        # From each name to the functions that draw its values; an empty one for another value.
        self._sources: dict[str, set[str]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._sources.setdefault(node.id, set()).add(drawn.get(id(node), ""))

    def _drawn_by(self, value: ast.expr) -> str:
        """Return the function that draws one random number; empty for other values."""
        match value:
            case ast.Call(func=func, args=[size], keywords=[]):
                is_one = isinstance(size, ast.Constant) and size.value == 1
                is_scalar = isinstance(size, ast.List | ast.Tuple) and not size.elts
                name = self._context.name(func)
                return name if (is_one or is_scalar) and name.startswith("torch.rand") else ""
        return ""

    def comparisons_in(self, whole: ast.expr) -> list[ast.Compare]:
        """Return the comparisons of a random number from 0 to 1 with a rate.

        Declined is raised for a name that may have another value.
        """
        found: list[ast.Compare] = []
        for node in ast.walk(whole):
            match node:
                case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[rate]):
                    if is_name_chain(rate) and any(self._sources.get(name, ())):
                        self._require_not_negative(name, node)
                        found.append(node)
        return found

    def _require_not_negative(self, name: str, node: ast.Compare) -> None:
        sources = self._sources[name]
        for source in sorted(sources - {"torch.rand", ""}):
            raise Declined(f"`{source}` may return a negative number", node)
        if sources != {"torch.rand"} or name in self._arguments:
            raise Declined(f"`{name}` may have another value than the random number", node)


def _values_of_tested_names(
    here: list[ast.expr],
    tests: list[ast.expr],
    numbers: _RandomNumbers,
    function: ast.FunctionDef,
) -> Iterator[ast.expr]:
    """Yield the values of names in a test; Declined if such a name is used elsewhere too."""
    in_tests = {id(node) for test in tests for node in _tested_names(test)}
    for name in sorted({each.id for test in here for each in _tested_names(test)}):
        names = [
            node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name
        ]
        reads = [node for node in names if isinstance(node.ctx, ast.Load)]
        values = [
            each.value
            for each in ast.walk(function)
            if isinstance(each, ast.Assign) and any(target in names for target in each.targets)
        ]
        if not len(values) == len(names) - len(reads) == 1:
            continue
        if not all(id(node) in in_tests for node in reads):
            if numbers.comparisons_in(values[0]):
                raise Declined(f"`{name}` is used for more than a test", values[0])
            continue
        yield values[0]


def _tested_names(test: ast.expr) -> Iterator[ast.Name]:
    """Yield the names of a test that are only converted to a boolean."""
    match test:
        case ast.Name():
            yield test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _tested_names(operand)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _tested_names(each)


def _with_rate_first(context: BreakContext, comparison: ast.Compare, whole: ast.expr) -> str:
    """Return the source of a comparison behind a test of its rate."""
    new = f"{context.source(comparison.comparators[0])} > 0 and {context.source(comparison)}"
    match whole:
        case ast.BoolOp(op=ast.And(), values=operands) if comparison in operands:
            return new
    return new if comparison is whole else f"({new})"
