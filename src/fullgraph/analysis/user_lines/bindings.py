"""Find the statements that may have bound a name last when a call is evaluated.

`reaching_bindings` walks the statements of a function or module as Python runs them, with the set
of statements that may have bound the name last. Where paths meet, the sets are united; loops are
walked until nothing changes. What may raise is assumed to raise, so that the result has every
statement that execution could show, and may have more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# The nodes that may have bound the name last; None where execution cannot get.
State = frozenset[ast.AST] | None

# Stands for a name that is not bound, or no longer.
UNBOUND = ast.Pass()
# Context managers of these modules, and these functions, never swallow an exception.
_NEVER_SUPPRESS = frozenset({"torch", "open"})


def parameters_of(scope: Scope) -> list[ast.arg]:
    """Return all parameters of a function; none for a module."""
    if isinstance(scope, ast.Module):
        return []
    given = scope.args
    extra = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *extra]


@lru_cache(maxsize=256)
def own_nodes(scope: Scope) -> tuple[ast.AST, ...]:
    """Return the nodes that run in a scope itself: not those in functions and classes inside it.

    Comprehensions are included, because an assignment expression in one binds a name outside of it.
    The functions and classes themselves are included as well: their statement binds their name.
    """
    found: list[ast.AST] = []
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [*node.decorator_list, *_defaults(node.args)]
        elif isinstance(node, ast.Lambda):
            pending += _defaults(node.args)
        elif isinstance(node, ast.ClassDef):
            pending += [*node.decorator_list, *node.bases]
        else:
            pending += reversed(list(ast.iter_child_nodes(node)))
    return tuple(found)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]


def bindings_in(scope: Scope, name: str) -> list[ast.AST]:
    """Return every parameter, statement or expression of a scope itself that binds a name."""
    found: list[ast.AST] = [each for each in parameters_of(scope) if each.arg == name]
    wanted = (name, "*")
    found += [node for node in own_nodes(scope) if not bound_names(node).isdisjoint(wanted)]
    return found


def bound_names(node: ast.AST) -> set[str]:
    """Return the names that a node binds itself, `*` for those of `from m import *`."""
    match node:
        case ast.Assign(targets=targets):
            return names_stored(targets)
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            return names_stored([target])
        case ast.AnnAssign(target=target, value=value):
            return names_stored([target]) if value is not None else set()
        case ast.NamedExpr(target=ast.Name(id=name)):
            return {name}
        case ast.withitem(optional_vars=target) if target is not None:
            return names_stored([target])
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return {name}
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {each.asname or each.name.partition(".")[0] for each in names}
    return set()


def names_stored(targets: Sequence[ast.expr]) -> set[str]:
    """Return the names that assigning to some targets binds."""
    found: set[str] = set()
    for target in targets:
        match target:
            case ast.Name(id=name):
                found.add(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                found |= names_stored(parts)
            case ast.Starred(value=value):
                found |= names_stored([value])
    return found


def reaching_bindings(
    scope: Scope, name: str, use: ast.AST, context: set[int]
) -> frozenset[ast.AST]:
    """Return what may have bound `name` last when `use` is evaluated in the same scope.

    `context` has the ids of `use` and of the nodes around it. Empty if `use` is not evaluated.
    """
    walker = _Walker(name, context)
    given: list[ast.AST] = [each for each in parameters_of(scope) if each.arg == name]
    start = frozenset(given or [UNBOUND])
    if isinstance(scope, ast.Lambda):
        walker.evaluate(scope.body, start)
    else:
        walker.run(scope.body, start)
    return walker.at_use


def _join(*states: State) -> State:
    known = [each for each in states if each is not None]
    return frozenset().union(*known) if known else None


class _Raised:
    """Collects the states in which an exception may be raised."""

    def __init__(self, state: State = None) -> None:
        self.state = state


class _Loop:
    """Collects the states in which a loop is left, and in which its next round starts."""

    def __init__(self) -> None:
        self.left: State = None
        self.continued: State = None


class _Walker:
    def __init__(self, name: str, context: set[int]) -> None:
        self.at_use: frozenset[ast.AST] = frozenset()
        self._name = name
        self._context = context
        # The loops and `finally` blocks around the current statement.
        self._around: list[_Loop | list[ast.stmt]] = []
        # For each `try` or `with` around it, the states in which an exception may be raised.
        self._raised: list[_Raised] = []

    def run(self, body: Sequence[ast.stmt], state: State) -> State:
        """Return the state after some statements."""
        for statement in body:
            if state is None:
                return None
            self._may_raise(state)
            state = self._statement(statement, state)
            self._may_raise(state)
        return state

    def evaluate(self, node: ast.AST | None, state: State) -> State:
        """Return the state after an expression; assignment expressions in it bind names."""
        if node is None or state is None:
            return state
        after = state
        for binding, is_certain in _assignment_expressions(node):
            if binding.target.id == self._name:
                after = frozenset({binding}) | (frozenset() if is_certain else after)
        if id(node) in self._context:
            self.at_use |= state | after
        return after

    def _may_raise(self, state: State) -> None:
        for raised in self._raised:
            raised.state = _join(raised.state, state)

    def _bind(self, names: set[str], node: ast.AST, state: State) -> State:
        if state is None:
            return None
        if "*" in names:
            return state | {node}
        return frozenset({node}) if self._name in names else state

    def _statement(self, node: ast.stmt, state: State) -> State:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            return handler(self, node, state)
        if isinstance(node, ast.Return | ast.Raise):
            self.evaluate(node, state)
            self._leave_through_finally(state)
            return None
        return self._bind(bound_names(node), node, self.evaluate(node, state))

    def _leave_through_finally(self, state: State) -> None:
        for place in range(len(self._around) - 1, -1, -1):
            state = self._run_finally(place, state)

    def _run_finally(self, place: int, state: State) -> State:
        """Run the `finally` block at a place of `_around`, outside of what is inside its `try`."""
        block = self._around[place]
        if isinstance(block, _Loop):
            return state
        around, self._around = self._around, self._around[:place]
        state = self.run(block, state)
        self._around = around
        return state

    def _definition(self, node: ast.FunctionDef, state: State) -> State:
        for each in [*node.decorator_list, *_defaults(node.args)]:
            state = self.evaluate(each, state)
        return self._bind({node.name}, node, state)

    def _class(self, node: ast.ClassDef, state: State) -> State:
        for each in [*node.decorator_list, *node.bases]:
            state = self.evaluate(each, state)
        return self._bind({node.name}, node, state)

    def _delete(self, node: ast.Delete, state: State) -> State:
        state = self.evaluate(node, state)
        return frozenset({UNBOUND}) if self._name in names_stored(node.targets) else state

    def _break(self, node: ast.Break | ast.Continue, state: State) -> State:
        for place in range(len(self._around) - 1, -1, -1):
            loop = self._around[place]
            if isinstance(loop, _Loop):
                if isinstance(node, ast.Break):
                    loop.left = _join(loop.left, state)
                else:
                    loop.continued = _join(loop.continued, state)
                return None
            state = self._run_finally(place, state)
        return None

    def _if(self, node: ast.If, state: State) -> State:
        state = self.evaluate(node.test, state)
        return _join(self.run(node.body, state), self.run(node.orelse, state))

    def _for(self, node: ast.For, state: State) -> State:
        state = self.evaluate(node.iter, state)
        names = names_stored([node.target])

        def start(current: State) -> State:
            return self.evaluate(node.target, self._bind(names, node, current))

        return self._loop(node, state, start, exits=True)

    def _while(self, node: ast.While, state: State) -> State:
        def start(current: State) -> State:
            return self.evaluate(node.test, current)

        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self._loop(node, state, start, exits=not endless)

    def _loop(
        self, node: ast.For | ast.While, state: State, start: Callable[[State], State], exits: bool
    ) -> State:
        loop = _Loop()
        before = state
        while True:
            entered = start(before)
            # The test of `while` is evaluated before the loop ends; the target of `for` is not
            # bound then.
            done = before if isinstance(node, ast.For | ast.AsyncFor) else entered
            self._around.append(loop)
            after = self.run(node.body, entered)
            self._around.pop()
            merged = _join(before, after, loop.continued)
            if merged == before:
                break
            before = merged
        ended = self.run(node.orelse, done) if exits else None
        return _join(ended, loop.left)

    def _with(self, node: ast.With, state: State) -> State:
        for item in node.items:
            state = self.evaluate(item.context_expr, state)
            self._may_raise(state)
            if item.optional_vars is not None:
                self.evaluate(item.optional_vars, state)
                state = self._bind(bound_names(item), item, state)
        raised = _Raised()
        self._raised.append(raised)
        after = self.run(node.body, state)
        self._raised.pop()
        if all(_never_suppresses(item.context_expr) for item in node.items):
            return after
        return _join(after, raised.state)

    def _try(self, node: ast.Try, state: State) -> State:
        raised, outside = _Raised(state), _Raised()
        if node.finalbody:
            self._around.append(node.finalbody)
            self._raised.append(outside)
        self._raised.append(raised)
        after = self.run(node.body, state)
        self._raised.pop()
        after = self.run(node.orelse, after)
        caught = [self._handle(handler, raised.state) for handler in node.handlers]
        after = _join(after, *caught)
        if not node.finalbody:
            return after
        self._around.pop()
        self._raised.pop()
        unhandled = self.run(node.finalbody, _join(raised.state, outside.state))
        self._may_raise(unhandled)
        return self.run(node.finalbody, after)

    def _handle(self, handler: ast.ExceptHandler, state: State) -> State:
        state = self.evaluate(handler.type, state)
        if handler.name != self._name:
            return self.run(handler.body, state)
        after = self.run(handler.body, self._bind({self._name}, handler, state))
        return None if after is None else frozenset({UNBOUND})

    def _match(self, node: ast.Match, state: State) -> State:
        state = self.evaluate(node.subject, state)
        ends: list[State] = []
        for case in node.cases:
            matched = state
            for pattern in ast.walk(case.pattern):
                matched = self._bind(bound_names(pattern), pattern, matched)
            guarded = self.evaluate(case.guard, matched)
            ends.append(self.run(case.body, guarded))
            if case.guard is not None:
                state = _join(state, guarded)
        return _join(state, *ends)


_HANDLERS: dict[type[ast.stmt], Callable[[_Walker, Any, State], State]] = {
    ast.FunctionDef: _Walker._definition,
    ast.AsyncFunctionDef: _Walker._definition,
    ast.ClassDef: _Walker._class,
    ast.Delete: _Walker._delete,
    ast.Break: _Walker._break,
    ast.Continue: _Walker._break,
    ast.If: _Walker._if,
    ast.For: _Walker._for,
    ast.AsyncFor: _Walker._for,
    ast.While: _Walker._while,
    ast.With: _Walker._with,
    ast.AsyncWith: _Walker._with,
    ast.Try: _Walker._try,
    ast.TryStar: _Walker._try,
    ast.Match: _Walker._match,
}


def _never_suppresses(node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in _NEVER_SUPPRESS


@lru_cache(maxsize=4096)
def _assignment_expressions(node: ast.AST) -> tuple[tuple[ast.NamedExpr, bool], ...]:
    """Return the assignment expressions of a node, and whether each is always evaluated."""
    if not any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        return ()
    return tuple(_evaluated(node, True))


def _evaluated(node: ast.AST, is_certain: bool) -> Iterator[tuple[ast.NamedExpr, bool]]:
    parts: list[tuple[ast.AST, bool]]
    match node:
        case ast.Lambda(args=arguments):
            parts = [(each, True) for each in _defaults(arguments)]
        case ast.BoolOp(values=[first, *rest]):
            parts = [(first, True), *((each, False) for each in rest)]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            parts = [(test, True), (body, False), (orelse, False)]
        case ast.Compare(left=left, comparators=[first, *rest]):
            parts = [(left, True), (first, True), *((each, False) for each in rest)]
        case ast.comprehension():
            parts = [(each, False) for each in ast.iter_child_nodes(node)]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            parts = [(node.generators[0].iter, True)]
            parts += [(each, False) for each in ast.iter_child_nodes(node)]
        case ast.Assert(test=test):
            parts = [(test, True)]
        case _:
            parts = [(each, True) for each in ast.iter_child_nodes(node)]
    for part, is_evaluated in parts:
        yield from _evaluated(part, is_certain and is_evaluated)
    if isinstance(node, ast.NamedExpr):
        yield node, is_certain
