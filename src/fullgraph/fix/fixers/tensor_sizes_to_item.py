"""Reads the number out of a tensor before the number is used as a size.

What it does: `torch.zeros(lengths.max(), 4)`, `F.pad(x, (0, 8 - n))` and `x[:, n]` get an explicit
`.item()`. `repeat_interleave` gets its output size. `capture_scalar_outputs` is set, so that the
number becomes an unbacked symbol in the graph.

Why it breaks: torch accepts a 0-d tensor as a size, and reads the number inside the operator. There
Dynamo has no value. With `capture_scalar_outputs` alone it often fails as well, because the symbol
appears in the middle of an operator. With an explicit `.item()` the symbol comes first, and the
size is computed from it.

Safety: exact. torch does the same. All such sizes of the function are changed together, since one
that remains makes the others fail.

Not applied when: an expression is not known to be a tensor. An index is changed only if it is known
to be a 0-d tensor, because a tensor with dimensions selects as many elements as it has. `range()`
and other places where Python counts are not changed: a symbol has no value there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._size_positions import indices_in, sizes_in
from fullgraph.fix.model import Candidate, Settings
from fullgraph.fix.source.break_ids import (
    BUILTIN_OPERATOR,
    DATA_DEPENDENT_BRANCH,
    DATA_DEPENDENT_OPERATOR,
    DYNAMIC_SHAPE_OPERATOR,
    NO_ID,
    TENSOR_ITEM,
)
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import replace_nodes
from fullgraph.fix.source.inference.kinds import KindInference
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.text import Node, source_of, span

TITLE = "tensor as a size → `.item()`, an unbacked symbol"
KIND = "rewrite"
SAFETY = "exact"
# If a symbol appears too late, Dynamo fails with an error that has no id.
IDS = (
    NO_ID, DATA_DEPENDENT_OPERATOR, DYNAMIC_SHAPE_OPERATOR, TENSOR_ITEM, DATA_DEPENDENT_BRANCH,
    BUILTIN_OPERATOR,
)  # fmt: skip
CATEGORIES = ()
OFFERED_FOR = (
    r"\A(?!Failed to trace builtin operator)"
    r"|\b(zeros|ones|empty|full|arange|pad|expand|view|reshape|repeat|split|narrow)\("
)

_NEEDS_NO_PARENTHESES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_SETTINGS: Settings = {"capture_scalar_outputs": True}
_Changes = list[tuple[Node, str]]


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the function with `.item()` at all sizes that are tensors."""
    # `F.pad` and other functions of torch are Python, and break in there.
    here = context.in_user_code()
    if here is None or here.function is None:
        return
    sizes = _TensorSizes(here.text, Scope(here.tree, here.function))
    changes = sizes.changes()
    if not changes:
        sizes.decline_known_uses(here)
        return
    yield Candidate(here.file_edits(replace_nodes(here.text, changes)), settings=_SETTINGS)


def _is_item(node: ast.expr) -> bool:
    """Return whether an expression is `x.item()`."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "item"


class _TensorSizes:
    """The sizes of one function that are tensors."""

    def __init__(self, text: str, scope: Scope) -> None:
        self._text = text
        self._scope = scope
        self._function = scope.function
        self._kinds = KindInference(scope)

    def changes(self) -> _Changes:
        """Return the nodes to replace, and their new source."""
        sizes = [size for size in sizes_in(self._function) if self._kinds.kind_of(size).tensor]
        bound = self._names_of_sizes(sizes)
        self._kinds = KindInference(self._scope, numbers=set(bound))
        changes: _Changes = [(value, self._item(value)) for value in bound.values()]
        changes += [(size, self._item(size)) for size in sizes if self._kinds.kind_of(size).tensor]
        changes += [*self._indices(), *self._repetitions()]
        return [change for change in changes if not _is_inside_another(change[0], changes)]

    def decline_known_uses(self, context: BreakContext) -> None:
        """Decline a tensor at the break that is counted or indexed with; do nothing without one."""
        for node in context.expressions:
            match node:
                case ast.Call(func=ast.Name(id="range"), args=args):
                    if any(self._kinds.kind_of(argument).tensor for argument in args):
                        raise Declined("Python has to know the number of iterations", node)
                case ast.Call(func=ast.Attribute(attr="chunk" | "tensor_split"), args=args):
                    if any(map(_is_item, args)):
                        raise Declined("Python has to know the number of parts", node)
                case ast.Subscript(slice=index) if context.cause.id == DATA_DEPENDENT_OPERATOR:
                    if self._kinds.kind_of(index).tensor:
                        raise Declined("the index is not known to be a single integer", node)

    def _item(self, node: ast.expr) -> str:
        source = source_of(self._text, node)
        return (
            f"{source}.item()" if isinstance(node, _NEEDS_NO_PARENTHESES) else f"({source}).item()"
        )

    def _names_of_sizes(self, sizes: list[ast.expr]) -> dict[str, ast.expr]:
        """Return names that are only used in sizes, and the 0-d tensors that they are bound to."""
        inside = {id(node) for size in sizes for node in ast.walk(size)}
        found: dict[str, ast.expr] = {}
        for node in ast.walk(self._function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    uses = [each for each in ast.walk(self._function) if _is_name(each, name)]
                    others = [each for each in uses if id(each) not in inside]
                    # The other one is the target of the assignment.
                    if len(others) == 1 < len(uses) and self._kinds.kind_of(value).fresh_scalar:
                        found[name] = value
        return found

    def _indices(self) -> _Changes:
        """Return the changes of `x[n]` and `x[:, n]`."""
        changes: _Changes = []
        for whole, index, dimension in indices_in(self._function):
            if not self._kinds.kind_of(index).index:
                continue
            owner, item = source_of(self._text, whole.value), self._item(index)
            changes.append(
                (whole, f"{owner}.select({dimension}, {item})") if dimension else (index, item)
            )
        return changes

    def _repetitions(self) -> _Changes:
        """Return the changes of `repeat_interleave(x, n)` without an output size."""
        changes: _Changes = []
        for node in ast.walk(self._function):
            match node:
                case (
                    ast.Call(
                        func=ast.Attribute(value=ast.Name(id="torch"), attr="repeat_interleave"),
                        args=[_, ast.Name() as repeats, *_],
                        keywords=keywords,
                    )
                    | ast.Call(
                        func=ast.Attribute(attr="repeat_interleave"),
                        args=[ast.Name() as repeats],
                        keywords=keywords,
                    )
                ):
                    # With the keyword `repeats`, the argument is the tensor to repeat.
                    is_other = any(each.arg in ("output_size", "repeats") for each in keywords)
                    if not is_other and self._kinds.kind_of(repeats).tensor:
                        size = f"output_size={repeats.id}.sum().item()"
                        changes.append((node, self._with_keyword(node, size)))
        return changes

    def _with_keyword(self, call: ast.Call, keyword: str) -> str:
        """Return the source of a call with one more keyword argument."""
        start, end = span(self._text, call)
        arguments = (*call.args, *(each.value for each in call.keywords))
        last = max(span(self._text, argument)[1] for argument in arguments)
        if self._text[last:end].count(")") > 1:
            # The last argument is in parentheses.
            return f"{ast.unparse(call).removesuffix(')')}, {keyword})"
        return f"{self._text[start:last]}, {keyword}{self._text[last:end]}"


def _is_inside_another(node: Node, changes: _Changes) -> bool:
    return any(
        other is not node and any(each is node for each in ast.walk(other)) for other, _ in changes
    )


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
