"""Computes a value that is the same for the whole run once, at module level.

What it does: moves the expression to a constant of the module, below the imports and the constants
that it uses.

Why it breaks: Dynamo does not trace into functions that are written in C, such as
`os.cpu_count()`, `platform.system()`, a checksum or a `Decimal` of constants. Their results do not
depend on the inputs of the compiled function. Numbers and strings of a module are constants for
Dynamo.

Safety: exact for pure functions of constants. Properties of the machine do not change while a
program runs; the fix assumes that nothing, such as a test, replaces the function that returns them.

Not applied when: the value may change, as do the number of threads, the environment, the clock and
random numbers; or when the result can be mutated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.purity.known_functions import is_known_pure, nondeterminism_of, side_effect_of
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import insert_lines, replace_node
from fullgraph.fix.source.names import (
    arguments_of,
    bound_in,
    names_in,
    qualified_name,
    root_of,
    stored_names,
)
from fullgraph.fix.source.text import last_line

TITLE = "value that never changes → constant of the module"
KIND = "move"
SAFETY = "exact"
IDS = ()
CATEGORIES = ("untraced-calls", "side-effects", "python")
OFFERED_FOR = (
    r"\b(platform|hashlib|zlib|binascii|decimal|fractions|backends)\b|cpu_count|Decimal"
    r"|Fraction|timedelta|crc32|adler32|\b(md5|sha\d+)|digest"
    r"|\bis_(available|built|bf16_supported)\b|getdefaultencoding|python_version"
)

_MACHINE = (
    "os.cpu_count", "platform.system", "platform.machine", "platform.processor",
    "platform.python_version", "sys.getdefaultencoding", "torch.backends.mkldnn.is_available",
    "torch.backends.cudnn.is_available", "torch.backends.mps.is_available",
    "torch.backends.mps.is_built", "torch.backends.cuda.is_built", "torch.cuda.is_bf16_supported",
)  # fmt: skip
# Pure functions that are written in C, with immutable results.
_PURE = (
    "hashlib.md5", "hashlib.sha1", "hashlib.sha256", "zlib.crc32", "zlib.adler32",
    "binascii.crc32", "decimal.Decimal", "fractions.Fraction", "datetime.timedelta",
)  # fmt: skip
# Each call returns a new object, which the program may mutate.
_MUTABLE = (
    "array.array", "collections.Counter", "collections.OrderedDict", "collections.defaultdict",
    "collections.deque",
)  # fmt: skip
_METHODS = ("hexdigest", "digest", "total_seconds", "encode", "lower", "upper", "strip", "hex")
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_BUILTINS = ("int", "float", "str", "bool", "len", "round", "abs", "min", "max", "bytes")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the largest constant expression at the break as a constant of the module."""
    function = context.function
    if function is None:
        return
    constants = _ConstantExpressions(context, function)
    found = [each for each in context.expressions if constants.is_constant(each)]
    if not any(isinstance(each, ast.Call | ast.BinOp) for each in found):
        constants.decline_similar(context)
        return
    value = found[-1]
    if "\n" in context.source(value):
        raise Declined("the expression has several lines", value)
    name = context.fresh_name(f"_{_name_for(value, context)}")
    statement = f"{name} = {context.source(value)}"
    replacement = replace_node(context.text, value, name)
    line = _last_line_of_constants(value, function, context.tree)
    if line is None:
        file = context.file_edits([replacement], definitions=(f"\n{statement}",))
        yield Candidate(file, assumes=_assumptions(value, context))
    else:
        below = insert_lines(context.text, line + 1, ["", statement])
        edits = [replacement, below]
        file = context.file_edits(edits, module_additions=(statement,))
        yield Candidate(file, assumes=_assumptions(value, context))


def _assumptions(value: ast.expr, context: BreakContext) -> tuple[str, ...]:
    """Return what must hold for properties of the machine, which tests and plugins may replace."""
    calls = [context.name(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)]
    machine = dict.fromkeys(name for name in calls if name in _MACHINE)
    return tuple(f"nothing replaces `{name}` after this file is imported" for name in machine)


def _name_for(value: ast.expr, context: BreakContext) -> str:
    """Return a name after the variable that gets the value, or the function that it comes from."""
    match context.statements[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=assigned) if assigned is value:
            return name.upper()
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    names = [qualified_name(call.func, {}).rpartition(".")[2] for call in calls]
    return next((name for name in names if name and name not in _BUILTINS), "constant").upper()


class _ConstantExpressions:
    """Finds expressions of a function that are made of constants and have an immutable value."""

    def __init__(self, context: BreakContext, function: ast.FunctionDef) -> None:
        self._symbols = context.symbols
        self._imports = context.imports
        self._local = {each.arg for each in arguments_of(function)} | bound_in(function)
        self._changing = _changing_names(context) - self._local

    def is_constant(self, node: ast.AST) -> bool:
        """Return whether an expression has the same immutable value each time."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                value = self._symbols.bound_once.get(name) if name.isupper() else None
                return name not in self._local and value is not None and self.is_constant(value)
            case ast.BinOp(left=left, right=right):
                return self.is_constant(left) and self.is_constant(right)
            case ast.UnaryOp(operand=operand):
                return self.is_constant(operand)
            case ast.Compare(left=left, comparators=[right]):
                return self.is_constant(left) and self.is_constant(right)
            case ast.Call():
                return self._is_pure(node.func) and not self._variable_arguments(node)
        return False

    def _variable_arguments(self, call: ast.Call) -> list[ast.expr]:
        values = [*call.args, *(each.value for each in call.keywords)]
        return [each for each in values if not self.is_constant(each)]

    def _is_pure(self, function: ast.expr) -> bool:
        root = root_of(function)
        name = qualified_name(function, self._imports)
        if isinstance(function, ast.Name) and root not in self._imports:
            return name in _BUILTINS and name not in self._local
        if name and root in self._imports and root not in self._local:
            if name in _MACHINE or name in _PURE:
                return True
            is_pure = name.startswith("math.") and is_known_pure(name)
            return is_pure and not side_effect_of(name) and not nondeterminism_of(name)
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            return self.is_constant(function.value)
        return False

    def decline_similar(self, context: BreakContext) -> None:
        """Decline the expression at the break if it is similar to a constant one."""
        for node in context.expressions:
            names = sorted(names_in(node) & self._changing)
            if names and all(map(self._is_constant_or_changing, ast.walk(node))):
                raise Declined(f"`{names[0]}` may change", node)
            if isinstance(node, ast.Call) and _has_result(node, context):
                self._decline_call(node)

    def _is_constant_or_changing(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Name):
            return True
        is_function = node.id in _BUILTINS or node.id in self._imports
        return is_function or node.id in self._changing or self.is_constant(node)

    def _decline_call(self, call: ast.Call) -> None:
        """Decline a call of a pure function, or of a function that is known not to be pure."""
        name, root = qualified_name(call.func, self._imports), root_of(call.func)
        if not name or root not in self._imports:
            return
        if root in self._local:
            if name in (*_MACHINE, *_PURE):
                raise Declined(f"`{root}` is a local variable", call)
            return
        if self._is_pure(call.func):
            variable = self._variable_arguments(call)[0]
            raise Declined(f"{quoted(variable)} is not a constant", call)
        if name in _MUTABLE:
            raise Declined(f"the result of {quoted(call.func)} can be mutated", call)
        if nondeterminism_of(name):
            raise Declined(f"{quoted(call.func)} may return another value each time", call)


def _has_result(call: ast.Call, context: BreakContext) -> bool:
    """Return whether the result of a call is used as a value."""
    match context.statements[0]:
        case ast.Expr(value=value):
            return value is not call
        case ast.With(items=items):
            return all(item.context_expr is not call for item in items)
    return True


def _changing_names(context: BreakContext) -> set[str]:
    """Return the module's names in capitals that may change."""
    assigned = [each for each in context.tree.body if isinstance(each, _ASSIGNMENTS)]
    names = {name for each in assigned for name in stored_names(each) if name.isupper()}
    return names - set(context.symbols.bound_once)


def _last_line_of_constants(
    value: ast.expr, function: ast.FunctionDef, tree: ast.Module
) -> int | None:
    """Return the last line of the constants that a value uses; None if it uses only imports.

    Declined is raised if the value uses a name that is not defined above the function.
    """
    missing = names_in(value) - set(_BUILTINS)
    last = None
    for statement in tree.body:
        defined = _defined_by(statement)
        if statement.lineno < function.lineno and defined & missing:
            missing -= defined
            # Imports may follow the constants; the new constant goes below both.
            if last is not None or isinstance(statement, _ASSIGNMENTS):
                last = last_line(statement)
    for name in sorted(missing):
        raise Declined(f"`{name}` is not defined at module level above the function", value)
    return last


def _defined_by(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {each.asname or each.name.partition(".")[0] for each in names}
        case ast.Assign() | ast.AnnAssign():
            return stored_names(statement)
    return set()
