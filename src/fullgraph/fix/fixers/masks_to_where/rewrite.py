"""Rewrites statements with boolean masks as operations on whole tensors."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.fix.fixers.masks_to_where.masks import Masks
from fullgraph.fix.fixers.masks_to_where.whole_tensor import selects_with, whole_tensor_source
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import Edit, insert_lines, replace_node
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.locate import parents_of, statements_at
from fullgraph.fix.source.text import indent_of, owns_its_lines, source_of

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_RAISING = ("max", "min", "amax", "amin", "argmax", "argmin", "median", "aminmax")
_ROUNDING = ("sum", "mean", "prod", "std", "var", "norm", "logsumexp", "nansum", "nanmean")


class MaskRewrite:
    """The rewrites of the statement at a break.

    Each method returns edits, or None if the statement does not have the method's pattern. Declined
    is raised if it has the pattern, and the rewrite could change the result.
    """

    def __init__(self, context: BreakContext, function: ast.FunctionDef) -> None:
        self._context = context
        self._text = context.text
        self._function = function
        self._masks = Masks(context.text, Scope(context.tree, function))

    @property
    def _statement(self) -> ast.stmt:
        return statements_at(self._function, self._context.cause.line)[0]

    def _source(self, node: ast.expr) -> str:
        return source_of(self._text, node)

    # x[mask] = y[mask]

    def assignment(self) -> list[Edit] | None:
        """Rewrite `x[mask] = y[mask]` and `x[mask] += 1`."""
        lines = self._where_lines(self._statement)
        return None if lines is None else [self._replace(self._statement, lines)]

    def _replace(self, statement: ast.stmt, lines: Sequence[str]) -> Edit:
        indent = indent_of(self._text, statement)
        return replace_node(self._text, statement, f"\n{indent}".join(lines))

    def _where_lines(self, statement: ast.stmt) -> list[str] | None:
        """Return the lines that replace a masked assignment; None for other statements."""
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=tensor, slice=mask)], value=value):
                new = self._assigned(value, mask)
            case ast.AugAssign(target=ast.Subscript(value=tensor, slice=mask), op=op, value=value):
                new = self._augmented(tensor, op, value, mask)
            case _:
                return None
        if new is None:
            return None
        if not isinstance(tensor, ast.Name | ast.Attribute):
            raise Declined("the tensor is neither a name nor an attribute", tensor)
        if not owns_its_lines(self._text, statement):
            raise Declined("another statement is on the same line", statement)
        return self._copy_lines(tensor, mask, new)

    def _assigned(self, value: ast.expr, mask: ast.expr) -> str | None:
        """Return the assigned value for all elements; None if no mask is involved."""
        if not _can_be_mask(mask) or isinstance(value, ast.Constant):
            return None
        if selects_with(value, mask):
            return whole_tensor_source(self._text, value, mask)
        if self._masks.is_boolean(mask):
            raise Declined("the value is not selected with the same mask", value)
        return None

    def _augmented(
        self, tensor: ast.expr, op: ast.operator, value: ast.expr, mask: ast.expr
    ) -> str | None:
        """Return the value after `x[mask] += value` for all elements; None without a mask."""
        is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
        is_masked = is_number or selects_with(value, mask) or self._masks.is_boolean(mask)
        if not _can_be_mask(mask) or not is_masked:
            return None
        old, sign = self._source(tensor), _SIGNS.get(type(op))
        if sign is None or (isinstance(op, ast.Mult) and not is_number):
            raise Declined("the result may be NaN where the mask is False", value)
        if is_number:
            return f"{old} {sign} {self._source(value)}"
        if not isinstance(value, ast.Subscript) or not selects_with(value, mask):
            raise Declined(f"{quoted(value)} is neither a number nor selected with the mask", value)
        return f"{old} {sign} {whole_tensor_source(self._text, value, mask)}"

    def _copy_lines(self, tensor: ast.expr, mask: ast.expr, new: str) -> list[str]:
        """Return the lines that copy the new elements into the tensor, in place."""
        old = self._source(tensor)
        fitting = self._masks.fitting(mask, tensor)
        if fitting:
            return [f"{old}.copy_(torch.where({fitting}, {new}, {old}))"]
        name, source = self._context.fresh_name("chosen", self._function), self._source(mask)
        lines = []
        if not isinstance(mask, ast.Name):
            # The mask is used twice below, and computed once.
            lines, source = [f"{name} = {source}"], name
        return [
            *lines,
            f"{name} = {_broadcastable(source, old)}",
            f"{old}.copy_(torch.where({name}, {new}, {old}))",
        ]

    # index = torch.where(condition)

    def indices(self) -> list[Edit] | None:
        """Rewrite `index = torch.where(c)` as `index = c`, if `index` is only used as a mask."""
        match self._statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) as statement:
                pass
            case _:
                return None
        if not any(node is value for node in self._context.expressions):
            return None
        match value:
            case ast.Subscript(value=whole, slice=ast.Constant()) if _condition(whole) is not None:
                raise Declined("the indices of one dimension may repeat, a mask cannot", value)
        condition = _condition(value)
        if condition is None:
            return None
        if not self._masks.is_boolean(condition):
            raise Declined(f"{quoted(condition)} may not be a boolean tensor", condition)
        uses = self._replace_uses(statement, name)
        return [*uses, replace_node(self._text, statement, f"{name} = {self._source(condition)}")]

    def _replace_uses(self, binding: ast.Assign, name: str) -> list[Edit]:
        """Return the edits of the assignments that use an index, which becomes a mask.

        Declined is raised if another statement uses the index.
        """
        uses = [
            node
            for node in ast.walk(self._function)
            if isinstance(node, ast.Name) and node.id == name and node not in binding.targets
        ]
        edits: list[Edit] = []
        for statement in ast.walk(self._function):
            if not isinstance(statement, ast.Assign | ast.AugAssign) or statement is binding:
                continue
            used = [node for node in ast.walk(statement) if node in uses]
            if not used:
                continue
            uses = [node for node in uses if node not in used]
            if not _is_fill(statement, used):
                lines = self._where_lines(statement)
                if lines is None:
                    raise Declined(f"`{name}` is not only used to select elements", statement)
                edits.append(self._replace(statement, lines))
        if uses:
            raise Declined(f"`{name}` is not only used to select elements", uses[0])
        return edits

    # correct[mask].any()

    def reduction(self) -> list[Edit] | None:
        """Rewrite `correct[mask].any()` and other reductions of a boolean tensor."""
        selections = [
            node
            for node in self._context.expressions
            if isinstance(node, ast.Subscript) and _can_be_mask(node.slice)
        ]
        for node in selections:
            if self._masks.is_boolean(node.value) and self._masks.is_boolean(node.slice):
                return self._reduce_all(node)
        if selections:
            raise Declined(self._reason_to_keep(selections[0]), selections[0])
        return None

    def _reason_to_keep(self, selection: ast.Subscript) -> str:
        """Return why the elements of a tensor that may not be boolean stay selected."""
        match next(parents_of(self._function, selection)):
            case ast.Attribute(attr=name) if name in _RAISING:
                return f"`{name}` raises an error if the mask selects nothing"
            case ast.Attribute(attr=name) if name in _ROUNDING:
                return f"`{name}` over all elements may round differently"
        return "the result has one element per selected element"

    def _reduce_all(self, selection: ast.Subscript) -> list[Edit]:
        """Return the edits that reduce all elements instead of the selected ones."""
        values, mask = self._source(selection.value), self._source(selection.slice)
        if self._has_same_shape(selection.value, selection.slice):
            return [self._replace_reduction(selection, f"({values})", f"({mask})")]
        statement = self._statement
        is_named = isinstance(selection.value, ast.Name) and isinstance(selection.slice, ast.Name)
        if not is_named or not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
            raise Declined("the mask may have fewer dimensions than the tensor", selection)
        if not owns_its_lines(self._text, statement):
            raise Declined("another statement is on the same line", statement)
        name = self._context.fresh_name("chosen", self._function)
        line = f"{indent_of(self._text, statement)}{name} = {_broadcastable(mask, values)}"
        return [
            insert_lines(self._text, statement.lineno, [line]),
            self._replace_reduction(selection, values, name),
        ]

    def _replace_reduction(self, selection: ast.Subscript, values: str, mask: str) -> Edit:
        both = f"({values} & {mask})"
        reductions = {"any": f"{both}.any()", "all": f"({values} | ~{mask}).all()",
                      "sum": f"{both}.sum()"}  # fmt: skip
        for node in parents_of(self._function, selection):
            match node:
                case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]):
                    if inner is selection and name in reductions:
                        return replace_node(self._text, node, reductions[name])
                    if name == "mean" and _is_float_of(inner, selection):
                        mean = f"{both}.sum() / {mask}.expand_as({values}).sum()"
                        is_operand = isinstance(next(parents_of(self._function, node)), ast.expr)
                        return replace_node(self._text, node, f"({mean})" if is_operand else mean)
        raise Declined("only `any`, `all`, `sum` and `float().mean()` are rewritten", selection)

    def _has_same_shape(self, values: ast.expr, mask: ast.expr) -> bool:
        """Return whether both compare the same tensor with a constant: `(a > 0)[a < 5]`."""
        match values, mask:
            case (
                ast.Compare(left=left, comparators=[ast.Constant()]),
                ast.Compare(left=other, comparators=[ast.Constant()]),
            ):
                return self._masks.same(left, other)
        return False


def _can_be_mask(index: ast.expr) -> bool:
    return not isinstance(index, ast.Slice | ast.Tuple | ast.Constant)


def _is_float_of(node: ast.expr, selection: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="float"), args=[], keywords=[]):
            return inner is selection
    return False


def _condition(node: ast.expr) -> ast.expr | None:
    """Return `c` of `torch.where(c)` and `c.nonzero(as_tuple=True)`; None for other nodes."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch"), attr="where"),
            args=[condition],
            keywords=[],
        ):
            return condition
        case ast.Call(
            func=ast.Attribute(value=condition, attr="nonzero"),
            args=[],
            keywords=[ast.keyword(arg="as_tuple", value=ast.Constant(value=True))],
        ):
            return condition
    return None


def _is_fill(statement: ast.Assign | ast.AugAssign, used: Sequence[ast.AST]) -> bool:
    """Return whether a statement is `x[index] = 0`, which a mask does without a break as well."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Name() as index)], value=value):
            number = value.operand if isinstance(value, ast.UnaryOp) else value
            return used == [index] and isinstance(number, ast.Constant)
    return False


def _broadcastable(mask: str, tensor: str) -> str:
    """Return a mask with trailing dimensions of size 1.

    An index selects along the first dimensions, and broadcasting aligns the last ones.
    """
    return f"{mask}.reshape({mask}.shape + (1,) * ({tensor}.dim() - {mask}.dim()))"
