"""One side of a branch as a function that `torch.cond` calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from fullgraph.fix.fixers._branches.movable import assigned_names, read_before_assigned
from fullgraph.fix.source.codegen import ATOMS, dedented, indented, one_line
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.value import UNKNOWN, AbstractValue
from fullgraph.fix.source.names import names_in
from fullgraph.fix.source.text import last_line, split_lines
from fullgraph.fix.source.torch_ops import MAY_ALIAS

# Expressions that may be tensors.
_TENSORS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)


class CondBranch(Struct, frozen=True):
    """The statements of one side, and the expressions that its function returns."""

    statements: tuple[ast.stmt, ...]
    results: tuple[ast.expr, ...]
    # The lines of the statements, comments included.
    lines: tuple[str, ...] = ()

    # What the side returns.

    def result_value(self, result: ast.expr) -> ast.expr:
        """Return the expression that the side assigns to a result; the result itself without."""
        if isinstance(result, ast.Name):
            for statement in reversed(self.statements):
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == result.id:
                        return value
        return result

    def non_tensor(self) -> ast.expr | None:
        """Return a result that is surely not a tensor, such as None or a number; None without."""
        for result in self.results:
            value = self.result_value(result)
            if not isinstance(value, _TENSORS):
                return value
        return None

    def may_alias(self, result: ast.expr) -> bool:
        """Return whether a result may share memory with a tensor from outside."""
        match self.result_value(result):
            case ast.Call(func=ast.Attribute(attr=name)):
                return name in MAY_ALIAS
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Call():
                return False
        return True

    def values(self, inference: FunctionInference) -> list[AbstractValue]:
        """Return what is known of the results."""
        assigned = set(assigned_names(self.statements))
        unknown = AbstractValue(UNKNOWN, UNKNOWN)
        expressions = [self.result_value(result) for result in self.results]
        # The inference knows names as they are in front of the branch.
        return [unknown if names_in(e) & assigned else inference.read(e) for e in expressions]

    def unbounded_gradient_ops(self, inference: FunctionInference) -> frozenset[str]:
        """Return the operators with unbounded gradients in the history of the names it reads."""
        names = {name for node in (*self.results, *self.statements) for name in names_in(node)}
        values = [inference.read(ast.Name(name, ast.Load())) for name in names]
        return frozenset().union(*(value.unbounded_gradient_ops for value in values))

    # The function.

    def operands(self) -> set[str]:
        """Return the names that have to be arguments of the function."""
        return read_before_assigned(self.statements, self.results)

    def function_lines(self, text: str, name: str, operands: Sequence[str]) -> list[str]:
        """Return the definition of the function."""
        results = ", ".join(self._returned(text, result) for result in self.results)
        body = [*self.lines, f"return {results}"]
        return [f"def {name}({', '.join(operands)}):", *indented(body)]

    def _returned(self, text: str, result: ast.expr) -> str:
        """Return a result as written; as a copy if `torch.cond` may have got the same tensor."""
        written = one_line(text, result)
        if not self.may_alias(result):
            return written
        return f"{written}.clone()" if isinstance(result, ATOMS) else f"({written}).clone()"

    def shortened(self) -> CondBranch:
        """Return the side without its statement, if that only assigns the one result."""
        match self.statements, self.results:
            case [ast.Assign(targets=[ast.Name(id=name)], value=value)], [ast.Name(id=result)]:
                if name == result:
                    comments = tuple(line for line in self.lines if line.startswith("#"))
                    return CondBranch((), (value,), comments)
        return self


def cond_branch(
    text: str,
    statements: Sequence[ast.stmt],
    results: Sequence[ast.expr],
    end: ast.stmt | None = None,
) -> CondBranch:
    """Return a side with the lines of its statements, up to the statement `end` behind them."""
    lines = _lines_of(text, statements, end) if statements else []
    return CondBranch(tuple(statements), tuple(results), tuple(lines))


def _lines_of(text: str, statements: Sequence[ast.stmt], end: ast.stmt | None) -> list[str]:
    lines = split_lines(text)
    first = statements[0].lineno - 1
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return dedented(lines[first : end.lineno - 1 if end else last_line(statements[-1])])
