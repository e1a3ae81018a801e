"""Rewrites loops over experts with tokens as loops over all experts."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers.moe_expert_loops.empty_rows import require_noop_when_empty, row_names
from fullgraph.fix.fixers.moe_expert_loops.loop import ExpertLoop, expert_loop
from fullgraph.fix.source.codegen import call_lines, room_at
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, insert_lines, replace_lines, replace_node
from fullgraph.fix.source.inference.kinds import KindInference
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.locate import body_around
from fullgraph.fix.source.names import names_in
from fullgraph.fix.source.text import indent_of, last_line, owns_its_lines, source_line, source_of

_NO_SUCH_EXPERT = "a token was routed to an expert that does not exist"
_WHY_SKIP = "# Skip experts without tokens in training: their gradient must stay None."


def loop_over_all(
    context: BreakContext, function: ast.FunctionDef, loop: ast.For
) -> list[Edit] | None:
    """Rewrite a loop over experts with tokens; None for other loops."""
    experts = expert_loop(context.text, function, loop)
    return None if experts is None else _LoopOverAll(context, function, experts).edits()


class _LoopOverAll:
    """The edits that make a loop run over all experts."""

    def __init__(
        self, context: BreakContext, function: ast.FunctionDef, experts: ExpertLoop
    ) -> None:
        self._text = context.text
        self._tree = context.tree
        self._function = function
        self._experts = experts
        self._loop = experts.loop
        self._body = list(experts.loop.body)
        self._deleted: list[ast.stmt] = []
        self._has_dimension = experts.has_dimension
        self._skips_extra_class = False
        self._strip_first_statements()

    def _strip_first_statements(self) -> None:
        """Take the statements that a loop over numbers does not need out of the body."""
        if _reads_number(self._body[0], self._experts.variable):
            self._deleted.append(self._body.pop(0))
            self._has_dimension = False
        if self._body and _skips_extra_class(self._text, self._body[0], self._experts):
            self._deleted.append(self._body.pop(0))
            self._skips_extra_class = True

    def edits(self) -> list[Edit]:
        """Return the edits; Declined is raised if the result could differ."""
        uses = self._replace_uses()
        rows = row_names(self._body)
        require_noop_when_empty(self._tree, self._function, self._loop, self._body, rows)
        added = [*self._check_extra_class(), *self._skip_in_training()]
        iterator = replace_node(self._text, self._loop.iter, f"range({self._experts.experts})")
        return [iterator, *uses, *added, *self._delete_statements()]

    def _delete_statements(self) -> list[Edit]:
        found_by = self._experts.found_by
        if found_by is not None:
            if len(body_around(self._function, found_by)) == 1:
                raise Declined("a block would be empty", found_by)
            self._deleted.append(found_by)
        for statement in (*self._deleted, *self._body):
            if not owns_its_lines(self._text, statement):
                raise Declined("another statement is on the same line", statement)
        return [_delete_with_comments(self._text, each) for each in self._deleted]

    def _check_extra_class(self) -> list[Edit]:
        """Insert a check that no token was routed to a class without an expert."""
        experts = self._experts
        if self._skips_extra_class or experts.classes == experts.experts:
            return []
        arguments = [f"{experts.mask}[{experts.experts} :].sum() == 0", f'"{_NO_SUCH_EXPERT}"']
        room = room_at(self._text, self._loop)
        check = call_lines("", "torch._assert_async", arguments, room)
        return [_insert_before(self._text, self._loop, check)]

    def _skip_in_training(self) -> list[Edit]:
        """Insert a test that skips experts without tokens while gradients are recorded."""
        stacked = _is_stacked(Scope(self._tree, self._function), self._body, self._experts.variable)
        if stacked and not self._skips_extra_class:
            return []
        for statement, following in zip(self._body, self._body[1:], strict=False):
            # A name such as `_` comes last: the body does not use it.
            for name in sorted(row_names([statement]), key=lambda n: (n.startswith("_"), n)):
                test = f"if torch.is_grad_enabled() and {name}.numel() == 0:"
                return [_insert_before(self._text, following, [_WHY_SKIP, test, "    continue"])]
        raise Declined("the body has one statement only", self._loop)

    def _replace_uses(self) -> list[Edit]:
        """Return the edits of expressions in which the loop variable was a 1-d tensor.

        Declined is raised for a use in which a number gives another result.
        """
        variable = self._experts.variable
        parents = {
            child: node for node in ast.walk(self._loop) for child in ast.iter_child_nodes(node)
        }
        edits: list[Edit] = []
        nodes = (node for statement in self._body for node in ast.walk(statement))
        for node in nodes:
            if not (isinstance(node, ast.Name) and node.id == variable):
                continue
            indexed = parents[node]
            if not (isinstance(indexed, ast.Subscript) and indexed.slice is node):
                raise Declined(f"`{variable}` is not only used as an index", node)
            if not self._has_dimension:
                continue
            squeezed = _squeezed(indexed, parents)
            if squeezed is not None:
                edits.append(replace_node(self._text, squeezed, source_of(self._text, indexed)))
            elif not _is_called(indexed, parents):
                raise Declined(f"an index with `{variable}` gives one dimension more", node)
        return edits


def _reads_number(statement: ast.stmt, variable: str) -> bool:
    """Return whether a statement is `variable = variable[0]` or `variable = variable.item()`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == variable:
            pass
        case _:
            return False
    match value:
        case ast.Subscript(value=ast.Name(id=inner), slice=ast.Constant(value=0)):
            return inner == variable
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            match inner:
                case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
                    return name == variable
        case ast.Call(func=ast.Name(id="int"), args=[ast.Name(id=inner)], keywords=[]):
            return inner == variable
    return False


def _skips_extra_class(text: str, statement: ast.stmt, experts: ExpertLoop) -> bool:
    """Return whether a statement is `if variable == experts: continue`."""
    match statement:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[bound]),
            body=[ast.Continue()],
            orelse=[],
        ):
            return name == experts.variable and source_of(text, bound) == experts.experts
    return False


def _squeezed(indexed: ast.expr, parents: dict[ast.AST, ast.AST]) -> ast.Call | None:
    """Return the call `mask[expert].squeeze(0)` around `mask[expert]`; None without one."""
    method = parents[indexed]
    match method, parents.get(method):
        case ast.Attribute(attr="squeeze"), ast.Call(args=[ast.Constant(value=0)]) as call:
            return call
    return None


def _is_called(indexed: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether `modules[expert]` is called; a module list takes a tensor or a number."""
    match parents[indexed]:
        case ast.Call(func=func):
            return func is indexed
        case ast.Assign(targets=[ast.Name(id=name)]):
            return any(
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == name
                for node in parents
            )
    return False


def without_test(
    context: BreakContext, function: ast.FunctionDef, loop: ast.For, test: ast.If
) -> list[Edit] | None:
    """Remove `if rows.numel() == 0: continue`, or `if mask.any():` around the rest of a loop.

    None if the statement does not test whether an expert has tokens.
    """
    if test.orelse:
        return None
    number = loop.body.index(test)
    before, after = loop.body[:number], loop.body[number + 1 :]
    skips = isinstance(test.body[0], ast.Continue)
    rows = row_names(before) | ({_any_of(test.test)} - {""})
    if not (_is_empty_test(test.test, rows) if skips else _is_nonempty_test(test.test, rows)):
        return None
    rest = after if skips else [*test.body, *after]
    require_noop_when_empty(context.tree, function, loop, [*before, *rest], rows)
    variable = loop.target.id if isinstance(loop.target, ast.Name) else ""
    stacked = _is_stacked(Scope(context.tree, function), rest, variable)
    if skips and stacked and owns_its_lines(context.text, test):
        return [_delete_with_comments(context.text, test)]
    condition = context.source(test.test)
    condition = f"({condition})" if isinstance(test.test, ast.BoolOp) else condition
    training = "torch.is_grad_enabled() and" if skips else "not torch.is_grad_enabled() or"
    return [replace_node(context.text, test.test, f"{training} {condition}")]


def _any_of(test: ast.expr) -> str:
    """Return `mask` of `mask.any()` and `not mask.any()`; empty for other tests."""
    match test:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="any"), args=[]):
            return name
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _any_of(operand)
    return ""


def _counted(node: ast.expr) -> str:
    """Return the name whose rows an expression counts; empty for other expressions."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="numel"), args=[]):
            return name
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)
        ):
            return name
    return ""


def _is_empty_test(test: ast.expr, rows: set[str]) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            return _counted(left) in rows
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return (_counted(operand) or _any_of(operand)) in rows
    return False


def _is_nonempty_test(test: ast.expr, rows: set[str]) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
            return _counted(left) in rows
    return (_counted(test) or _any_of(test)) in rows


def _insert_before(text: str, statement: ast.stmt, lines: list[str]) -> Edit:
    """Insert lines in front of a statement, at its indentation."""
    indent = indent_of(text, statement)
    return insert_lines(text, statement.lineno, [f"{indent}{line}" for line in lines])


def _delete_with_comments(text: str, statement: ast.stmt) -> Edit:
    """Delete a statement and the comments right above it."""
    first = statement.lineno
    while source_line(text, first - 1).lstrip().startswith("#"):
        first -= 1
    return replace_lines(text, first, last_line(statement), [])


def _is_stacked(scope: Scope, body: list[ast.stmt], variable: str) -> bool:
    """Return whether one tensor has the weights of all experts: all that is indexed are tensors."""
    if not variable:
        return False
    kinds = KindInference(scope, hints=False)
    selected = [
        node.value
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript) and variable in names_in(node.slice)
    ]
    return all(kinds.kind_of(each).tensor for each in selected)
