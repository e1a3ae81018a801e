"""Replaces NumPy functions of Python numbers with functions of `math`.

What it does: `int(np.prod(x.shape))` becomes `int(math.prod(x.shape))`. The same applies to
`lcm`, `gcd`, `sqrt`, and to `ceil` and `floor` inside `int()`.

Why it breaks: the result is a number in eager mode, but Dynamo traces NumPy functions as operators
on arrays. The number becomes a tensor, and a comparison with it a branch on a tensor. The functions
of `math` are evaluated while Dynamo traces.

Safety: exact. Only calls whose arguments are known to be Python numbers are changed, and only if
`int` in the place of `numpy.int64` (or `float` in the place of its subclass `numpy.float64`) makes
no observable difference. `np.prod` of no numbers is 1.0 and `math.prod` is 1: outside of `int()`,
the product of a shape becomes `math.prod(shape) if shape else 1.0`.

Not applied when: the program reads an attribute of the result, asks for its type, shows it with
`!r`, or divides a Python number by it: Python raises an error where NumPy warns and returns
infinity. `sqrt` may get a negative number. `ceil` or `floor` is not inside `int()`, where infinity
and NaN raise the same error in both. `np.log`, `np.exp` and similar functions may round
differently.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import (
    BUILTIN_OPERATOR,
    DATA_DEPENDENT_BRANCH,
    DATA_DEPENDENT_OPERATOR,
)
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import replace_nodes
from fullgraph.fix.source.inference.kinds import KindInference
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.locate import function_at
from fullgraph.fix.source.names import arguments_of, bound_in, names_in

TITLE = "NumPy on Python numbers → math"
KIND = "rewrite"
SAFETY = "exact"
IDS = (DATA_DEPENDENT_BRANCH, DATA_DEPENDENT_OPERATOR, BUILTIN_OPERATOR)
CATEGORIES = ()
OFFERED_FOR = r"(?i)numpy|\bnp\."
ANY_BREAK = True

# The lines of a traceback in Dynamo's explanation of a break.
_TRACEBACK_LINE = re.compile(r'^# File "(?P<file>.+)", line (?P<line>\d+), in ', re.MULTILINE)
_OF_TWO_INTEGERS = ("lcm", "gcd")
_TO_INTEGER = ("ceil", "floor")
_ROUNDING = ("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sin", "cos", "tanh")
_FUNCTIONS = (*_OF_TWO_INTEGERS, *_TO_INTEGER, *_ROUNDING, "sqrt", "prod")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the NumPy calls that the break results from, as calls of `math`."""
    changes: dict[ast.expr, str] = {}
    declined: Declined | None = None
    for function, call in _numpy_calls(context):
        try:
            changes |= _NumpyCall(context, function, call).changes()
        except Declined as reason:
            declined = declined or reason
    if changes:
        edits = replace_nodes(context.text, changes.items())
        yield Candidate(context.file_edits(edits, imports=("import math",)))
    # Other breaks may be on the line of a NumPy call without resulting from it.
    elif declined is not None and context.cause.id in IDS:
        raise declined


def _numpy_calls(context: BreakContext) -> list[tuple[ast.FunctionDef, ast.Call]]:
    """Return the calls of the known NumPy functions that a break may result from.

    They are on the line of the break, bind a name that it uses, or are in its traceback.
    """
    if "numpy" not in context.text:
        return []
    lines = _lines_to_search(context)
    names = {f"numpy.{name}" for name in _FUNCTIONS}
    calls = [
        (function_at(context.tree, node.lineno), node)
        for node in ast.walk(context.tree)
        if isinstance(node, ast.Call) and node.lineno in lines and context.name(node.func) in names
    ]
    return [(function, call) for function, call in calls if function is not None]


def _lines_to_search(context: BreakContext) -> set[int]:
    lines = {
        int(match["line"])
        for match in _TRACEBACK_LINE.finditer(context.cause.explanation)
        if match["file"] == context.cause.file
    }
    if not context.statements or isinstance(context.statements[0], ast.FunctionDef):
        return lines
    lines.add(context.cause.line)
    used = names_in(context.statements[0])
    for node in ast.walk(context.function) if context.function else ():
        if isinstance(node, ast.Assign) and any(used & names_in(each) for each in node.targets):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


class _NumpyCall:
    """One call of a NumPy function."""

    def __init__(self, context: BreakContext, function: ast.FunctionDef, call: ast.Call) -> None:
        self._context = context
        self._call = call
        self._name = context.name(call.func).removeprefix("numpy.")
        self._function = function
        self._kinds = KindInference(Scope(context.tree, function))
        self._parents = {
            child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
        }

    def changes(self) -> dict[ast.expr, str]:
        """Return new source for nodes of the call; Declined is raised if it stays."""
        call, function = self._call, self._function
        if call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
            raise Declined(f"`{self._name}` has keyword or starred arguments", call)
        if "math" in bound_in(function) | {each.arg for each in arguments_of(function)}:
            raise Declined("`math` is the name of a local variable", call)
        self._require_unobserved(call)
        self._require_numbers()
        if self._name in _ROUNDING:
            raise Declined(f"`math.{self._name}` may round differently", call)
        conversion = self._conversion()
        if self._name in _TO_INTEGER and conversion is not None:
            return {conversion: f"math.{self._name}({self._context.source(call.args[0])})"}
        if self._name == "prod" and conversion is None and self._may_be_empty(call.args[0]):
            numbers = self._context.source(call.args[0])
            # Dynamo knows the sizes, so this decides nothing at run time.
            product = f"math.prod({numbers}) if {numbers} else 1.0"
            is_alone = isinstance(self._parents.get(call), ast.Assign | ast.Return | ast.Call)
            return {call: product if is_alone else f"({product})"}
        return {call.func: f"math.{self._name}"}

    def _require_numbers(self) -> None:
        """Decline arguments that may not be Python numbers, or not those of the function."""
        arguments = self._call.args
        if len(arguments) != (2 if self._name in _OF_TWO_INTEGERS else 1):
            raise Declined(f"`{self._name}` has more or fewer arguments", self._call)
        if self._name in _TO_INTEGER and self._conversion() is None:
            raise Declined(f"`math.{self._name}` raises an error for infinity", self._call)
        if self._name == "prod":
            self._require_product(arguments[0])
        elif self._name == "sqrt":
            if not self._kinds.kind_of(arguments[0]).nonnegative:
                raise Declined(f"{quoted(arguments[0])} may be negative, or an array", self._call)
        else:
            for argument in arguments:
                self._require_number(argument)

    def _require_product(self, argument: ast.expr) -> None:
        if self._kinds.kind_of(argument).shape:
            return
        if not isinstance(argument, ast.List | ast.Tuple):
            raise Declined(f"{quoted(argument)} may be an array", argument)
        if not argument.elts and self._conversion() is None:
            raise Declined("the product of no numbers is a float in NumPy", argument)
        for element in argument.elts:
            self._require_number(element)

    def _may_be_empty(self, argument: ast.expr) -> bool:
        return not isinstance(argument, ast.List | ast.Tuple)

    def _require_number(self, node: ast.expr) -> None:
        """Decline an argument that is not a number by its source, nor a constant in the graph."""
        if self._kinds.kind_of(node).number:
            return
        only_constants = rf"\bwrapped_{self._name}\(([^a-z]*)\)"
        is_traced = re.search(only_constants, self._context.cause.explanation) is not None
        if isinstance(node, ast.Starred) or not is_traced:
            raise Declined(f"{quoted(node)} may not be a Python number", node)

    def _conversion(self) -> ast.Call | None:
        """Return the call `int(...)` around this call; None without one."""
        match self._parents.get(self._call):
            case ast.Call(func=ast.Name(id="int"), args=[_], keywords=[]) as outer:
                return outer
        return None

    def _require_unobserved(self, value: ast.expr) -> None:
        """Decline a result whose type the program may observe: a NumPy number or a Python one."""
        parent = self._parents.get(value)
        match parent:
            case ast.Attribute(attr=attribute):
                raise Declined(f"`.{attribute}` of the result is used", value)
            case ast.FormattedValue(conversion=114):
                raise Declined("the result is shown with `!r`", value)
            case ast.Call(func=ast.Name(id="isinstance" | "type" | "repr" as function)):
                raise Declined(f"`{function}` shows the type of the result", value)
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right, left=left):
                if right is value and self._kinds.kind_of(left).number and self._name == "prod":
                    raise Declined("Python raises an error where NumPy divides by zero", value)
            case ast.Assign(targets=[ast.Name(id=name)]):
                for use in self._uses_of(name):
                    self._require_unobserved(use)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
                raise Declined("the result is not simply bound to a name", value)

    def _uses_of(self, name: str) -> list[ast.Name]:
        return [
            node
            for node in self._parents
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]
