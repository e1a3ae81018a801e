"""Registers a helper function that computes with NumPy as a custom operator.

What it does: the body of the helper moves into a function with `torch.library.custom_op` and a fake
implementation for shapes and dtypes. The helper calls the operator. The graph has one node for it,
and the body runs as before when the graph runs.

Why it breaks: Dynamo does not trace into C code or most other libraries, and it traces a NumPy
function only if torch has the same function.

Safety: exact. The fake implementation says that the result has the shape and dtype of the first
tensor, and backends rely on it. The operator therefore checks its result, and raises an error if it
differs.

Not applied when: the helper may have side effects, draws random numbers or mutates its arguments. A
tensor is used other than through `.numpy()`, `.detach()` and similar methods, so that a gradient
would be lost. The helper is a method, has decorators, or returns more than once.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate, Refusal
from fullgraph.fix.purity.static import static_findings
from fullgraph.fix.source.codegen import statement_lines
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, replace_lines
from fullgraph.fix.source.text import indent_of, last_line, owns_its_lines
from fullgraph.fix.source.torch_ops import METADATA_ATTRIBUTES, METADATA_METHODS, READ_VALUES

TITLE = "NumPy helper function → custom operator"
KIND = "escape"
SAFETY = "exact"
IDS = ()
CATEGORIES = ("untraced-calls", "python", "side-effects", "data-dependent", "dynamic-shapes")
OFFERED_FOR = r"(?i)numpy|\bnp\.|ndarray|scipy"

# A use of a tensor through one of these has no gradient, and needs none.
_ENDS_GRADIENT = (
    READ_VALUES | METADATA_ATTRIBUTES - {"requires_grad"} | METADATA_METHODS | {"detach"}
)
_TENSOR_ANNOTATIONS = ("torch.Tensor", "Tensor")
_SCALAR_ANNOTATIONS = ("int", "float", "bool", "str")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the helper around the break as a custom operator."""
    function = context.function
    if "numpy" not in context.text or function is None or not _is_helper(function, context):
        return
    try:
        operator = _CustomOperator(context, function)
    except Declined:
        if _uses_numpy(function, context):
            raise
        return
    findings = static_findings(context.tree, function.name)
    if findings:
        reason = f"`{function.name}` may not be pure: {findings[0].what}"
        yield Refusal(reason, findings[0].line)
        return
    edits = [operator.replaced_body()]
    definition = operator.definition()
    yield Candidate(context.file_edits(edits, imports=("import torch",), definitions=(definition,)))


def _is_helper(function: ast.FunctionDef, context: BreakContext) -> bool:
    """Return whether a function is at module level and called by another one."""
    if context.symbols.functions.get(function.name) is not function:
        return False
    inside = {id(node) for node in ast.walk(function)}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function.name
        and id(node) not in inside
        for node in ast.walk(context.tree)
    )


def _uses_numpy(function: ast.FunctionDef, context: BreakContext) -> bool:
    return any(
        (isinstance(node, ast.Name) and context.name(node).partition(".")[0] == "numpy")
        or (isinstance(node, ast.Attribute) and node.attr == "numpy")
        for node in ast.walk(function)
    )


class _CustomOperator:
    """A helper function as a custom operator; Declined is raised if it cannot be one."""

    def __init__(self, context: BreakContext, function: ast.FunctionDef) -> None:
        self._context = context
        self._function = function
        self._return = _only_return(function)
        has_docstring = ast.get_docstring(function) is not None and len(function.body) > 1
        # The docstring stays in the helper.
        self._statements = function.body[1:] if has_docstring else function.body
        for statement in (self._statements[0], self._return):
            if not owns_its_lines(context.text, statement):
                raise Declined("another statement is on the same line", statement)
        self._types = _argument_types(function)
        self._tensors = [name for name, type_ in self._types.items() if type_ == "torch.Tensor"]
        if not self._tensors:
            raise Declined(f"`{function.name}` has no tensor argument", function)
        for name in self._tensors:
            _require_no_gradient(name, function)
        self._name = context.fresh_name(f"_{function.name}_operator")

    def definition(self) -> str:
        """Return the operator and its fake implementation."""
        helper, like = self._function.name, self._tensors[0]
        result = self._context.fresh_name("result", self._function)
        signature = ", ".join(f"{name}: {type_}" for name, type_ in self._types.items())
        namespace = re.sub(r"\W", "_", Path(self._context.cause.file).stem)
        return f'''

@torch.library.custom_op("{namespace}::{helper}", mutates_args=())
def {self._name}({signature}) -> torch.Tensor:
{textwrap.indent(self._body(result), "    ")}
    if {result}.shape != {like}.shape or {result}.dtype != {like}.dtype:
        raise ValueError("{helper} must return a tensor with the shape and dtype of {like}")
    return {result}.contiguous()


@{self._name}.register_fake
def _({", ".join(self._types)}):
    return {like}.new_empty({like}.shape)'''

    def _body(self, result: str) -> str:
        """Return the helper's body, which binds a name instead of returning."""
        lines = statement_lines(self._context.text, self._statements)
        last = self._return.lineno - self._statements[0].lineno
        lines[last] = lines[last].replace("return", f"{result} =", 1)
        return "\n".join(lines)

    def replaced_body(self) -> Edit:
        """Return the edit that makes the helper call the operator."""
        text = self._context.text
        arguments = ", ".join(
            f"{name}.detach()" if self._is_detached(name) else name for name in self._types
        )
        call = f"{indent_of(text, self._return)}return {self._name}({arguments})"
        return replace_lines(text, self._statements[0].lineno, last_line(self._return), [call])

    def _is_detached(self, name: str) -> bool:
        """Return whether an argument may have gradients; `.numpy()` alone raises for those."""
        uses = _attribute_chains(name, self._function)
        return name in self._tensors and any("detach" in chain for _, chain in uses)


def _only_return(function: ast.FunctionDef) -> ast.Return:
    """Return the return statement at the end of a plain function with one result."""
    if function.decorator_list:
        raise Declined(f"`{function.name}` has decorators", function)
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    last = function.body[-1]
    if len(returns) != 1 or not isinstance(last, ast.Return) or last.value is None:
        raise Declined(f"`{function.name}` does not have one return at its end", function)
    return last


def _argument_types(function: ast.FunctionDef) -> dict[str, str]:
    """Return the types of a function's arguments, as a custom operator declares them."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise Declined(f"`{function.name}` has starred, keyword or positional-only arguments")
    missing = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * missing + list(arguments.defaults)
    return {
        argument.arg: _argument_type(argument, default)
        for argument, default in zip(arguments.args, defaults, strict=True)
    }


def _argument_type(argument: ast.arg, default: ast.expr | None) -> str:
    if argument.annotation is not None:
        annotation = ast.unparse(argument.annotation)
        if annotation in _TENSOR_ANNOTATIONS:
            return "torch.Tensor"
        if annotation in _SCALAR_ANNOTATIONS:
            return annotation
    elif default is None:
        return "torch.Tensor"
    elif isinstance(default, ast.Constant) and isinstance(default.value, int | float | str):
        return type(default.value).__name__
    raise Declined(f"the argument `{argument.arg}` is neither a tensor nor a number", argument)


def _require_no_gradient(name: str, function: ast.FunctionDef) -> None:
    """Decline a tensor whose gradient does not end at every use: `x.cpu().numpy()`, `x.shape`."""
    uses = _attribute_chains(name, function)
    if not uses:
        raise Declined(f"`{name}` is not used", function)
    for use, chain in uses:
        if not _ENDS_GRADIENT & set(chain):
            raise Declined(f"`{name}` may be a tensor with a gradient", use)


def _attribute_chains(name: str, function: ast.FunctionDef) -> list[tuple[ast.Name, list[str]]]:
    """Return the uses of a name with their attributes: `cpu`, `numpy` for `x.cpu().numpy()`."""
    parents = {
        id(child): node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
    }
    uses: list[tuple[ast.Name, list[str]]] = []
    for use in ast.walk(function):
        if not isinstance(use, ast.Name) or use.id != name:
            continue
        chain: list[str] = []
        node: ast.AST = use
        while True:
            parent = parents[id(node)]
            if isinstance(parent, ast.Attribute):
                chain.append(parent.attr)
            elif not isinstance(parent, ast.Call) or parent.func is not node:
                break
            node = parent
        uses.append((use, chain))
    return uses
