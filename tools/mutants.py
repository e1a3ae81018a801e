"""Small wrong versions of a module: each has one changed operator, constant or statement.

`mutants_of` takes the source of a module and returns its mutants as edits of the text. Annotations,
docstrings, messages and blocks for type checkers have no mutants: no test should notice those.
`return False` is not replaced with `return None`, which is false as well, but with `return True`.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
}  # fmt: skip
# Calls that only produce text for people.
MESSAGES = ("debug", "info", "warning", "warn", "error", "exception", "print", "echo", "option")


@dataclass(frozen=True)
class Mutant:
    """One edit of one file: `source[start:end]` becomes `replacement`."""

    id: str
    file: str
    line: int
    operator: str
    start: int
    end: int
    original: str
    replacement: str

    def apply(self, source: str) -> str:
        """Return the source of the module with this edit."""
        return source[: self.start] + self.replacement + source[self.end :]

    def is_valid(self, source: str) -> bool:
        """Return whether Python can compile the mutated module."""
        try:
            compile(self.apply(source), self.file, "exec", dont_inherit=True)
        except SyntaxError:
            return False
        return True


@dataclass(frozen=True)
class Change:
    """The name of an operator, the node that it changes and the new source of that node."""

    operator: str
    node: ast.expr | ast.stmt
    replacement: str


def mutants_of(source: str, file: str) -> list[Mutant]:
    """Return every mutant of a module in the order of the source; a few are not valid Python."""
    lines = source.split("\n")
    seen: dict[str, int] = {}
    mutants = []
    for change in _changes(ast.parse(source)):
        node = change.node
        start = _index(lines, node.lineno, node.col_offset)
        end = _index(lines, node.end_lineno or 0, node.end_col_offset or 0)
        original = source[start:end]
        # The id stays the same when other lines change; equal changes of a file are numbered.
        key = "\0".join((file, change.operator, original, change.replacement))
        seen[key] = seen.get(key, 0) + 1
        digest = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:8]
        name = f"{PurePosixPath(file).stem}-{change.operator}-{digest}"
        mutant = Mutant(
            name, file, node.lineno, change.operator, start, end, original, change.replacement
        )
        mutants.append(mutant)
    return sorted(mutants, key=lambda mutant: (mutant.start, mutant.id))


def _index(lines: list[str], line: int, column: int) -> int:
    """Return the index of a position of the syntax tree, which counts columns in bytes."""
    before = sum(len(each) + 1 for each in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode())


# Which nodes are mutated


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield the changes of a node and of the nodes in it."""
    yield from _changes_of(node)
    for child in _mutated_children(node):
        yield from _changes(child)


def _mutated_children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        # The positions inside of an f-string are wrong before Python 3.12.
        case ast.JoinedStr() | ast.Raise() | ast.Import() | ast.ImportFrom():
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Call() if _called(node) in MESSAGES:
            return
        case ast.AnnAssign():
            children: list[ast.AST | None] = [node.value]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            children = [*node.args.defaults, *node.args.kw_defaults, *node.body]
        case ast.ClassDef():
            children = [*node.body]
        case _:
            children = [*ast.iter_child_nodes(node)]
    yield from (child for child in children if child is not None)


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


# Operators


def _changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            flipped = copy.deepcopy(node)
            flipped.ops = [COMPARISONS[type(operator)]()]
            yield Change("comparison", node, f"({ast.unparse(flipped)})")
            yield from _changed_strings([node.left, *node.comparators])
        case ast.BoolOp():
            swapped = copy.deepcopy(node)
            swapped.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield Change("and-or", node, f"({ast.unparse(swapped)})")
        case ast.UnaryOp(op=ast.Not()):
            yield Change("negation", node, f"({ast.unparse(node.operand)})")
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not _is_checked_anyway(test):
                yield Change("negation", test, f"(not ({ast.unparse(test)}))")
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            other = copy.deepcopy(node)
            other.op = ARITHMETIC[type(operator)]()
            yield Change("arithmetic", node, f"({ast.unparse(other)})")
        case ast.Constant(value=bool(value)):
            yield Change("constant", node, repr(not value))
        case ast.Constant(value=int(value)):
            yield Change("constant", node, repr(value + 1))
        case ast.Subscript(slice=ast.Constant() as key):
            yield from _changed_strings([key])
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in ("None", "False"):
            yield Change("return", node, "return None")
        case _ if _can_be_deleted(node):
            assert isinstance(node, ast.stmt)
            yield Change("deletion", node, "pass")


def _is_checked_anyway(test: ast.expr) -> bool:
    """Return whether another operator already inverts this condition."""
    flips = isinstance(test, ast.Compare) and len(test.ops) == 1
    return flips or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)) or (
        isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
    )  # fmt: skip


def _changed_strings(nodes: list[ast.expr]) -> Iterator[Change]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Change("constant", node, repr(f"{node.value}~"))


def _can_be_deleted(node: ast.AST) -> bool:
    """Return whether the code without this statement still defines every name that it uses."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            return _called(call) not in MESSAGES
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
            return True
    return False
