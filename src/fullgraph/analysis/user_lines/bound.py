"""Find the line that last bound an argument of a compiled function, from the source of its callers.

The result is either the line that execution would show, or None.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fullgraph.analysis.user_lines.arguments import Argument, Slot, arguments_for
from fullgraph.analysis.user_lines.bindings import (
    UNBOUND,
    Scope,
    bindings_in,
    bound_names,
    own_nodes,
    reaching_bindings,
)
from fullgraph.analysis.user_lines.source_file import (
    Function,
    SourceFile,
    comprehension_binding,
    function_name,
    is_builtin,
    is_deferred,
    scope_name,
)
from fullgraph.model.events import Code, Frame

Open = Callable[[str], SourceFile | None]
# What torch puts between a call and the function; the arguments are passed on as they are.
PASSES_ON = re.compile(
    r"[/\\]torch[/\\](_dynamo[/\\]\w+|nn[/\\]modules[/\\]module|utils[/\\]_contextlib)\.py$"
)
_MODULE_CALL = re.compile(r"[/\\]torch[/\\]nn[/\\]modules[/\\]module\.py$")
_COMPREHENSION_FRAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_WRITE_ITEMS = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault",
     "sort", "update"}
)  # fmt: skip
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Python calls these by another name than the one in the source.
_IMPLICIT = frozenset({"forward", "__call__", "<lambda>"})


class UnclearName(NamedTuple):
    """A name of a function in the call stack."""

    file: str
    function: str
    name: str


class BindingFinder:
    """Follows an argument up a call stack: `frames` are the callers, the outermost first."""

    def __init__(self, frames: Sequence[Frame], open_file: Open) -> None:
        self._frames = frames
        self._open = open_file
        # A name that several statements may have bound last: only execution shows which one.
        self.unclear: UnclearName | None = None

    def argument(self, code: Code, slot: Slot) -> Frame | None:
        """Return the line that last bound an argument of a compiled function."""
        file = self._open(code.file)
        function = None if file is None else file.function_of(code)
        if file is None or function is None:
            return None
        return self._passed(len(self._frames), file, function, slot)

    def local(self, code: Code, name: str, line: int) -> Frame | None:
        """Return what bound a name of a compiled function before a line where it resumed."""
        file = self._open(code.file)
        function = None if file is None else file.function_of(code)
        if file is None or function is None or isinstance(function, ast.Lambda):
            return None
        use = _statement_at(function, line)
        if use is None:
            return None
        context = {id(node) for node in file.around(use)}
        found = _certain(reaching_bindings(function, name, use, context))
        if isinstance(found, ast.arg):
            return self._passed(len(self._frames), file, function, Slot(name))
        return None if found is None else file.frame(found)

    def _passed(
        self, callee: int, file: SourceFile, function: Function, slot: Slot
    ) -> Frame | None:
        """Return what bound the argument that the frame before `callee` passed to `function`."""
        number = self._caller(callee)
        caller = None if number is None else self._open(self._frames[number].file)
        if number is None or caller is None or not caller.matches(self._frames[number]):
            return None
        call = caller.call_at(self._frames[number])
        if call is None or not _calls(call, function, caller):
            return None
        skip_first = _is_method(file, function) and not _names_class(call, file, function)
        if any(_MODULE_CALL.search(each.file) for each in self._frames[number + 1 : callee]):
            # A decorator may have put another function in the place of the method.
            skip_first = skip_first or _first_parameter(function) == "self"
        for argument in arguments_for(call, function, slot, skip_first):
            found = self._argument(number, caller, call, argument, file)
            if found is not None and _has_item(function, slot):
                return _last_store(caller, call, argument.value, slot, found)
            if found is not None:
                return found
        return None

    def _argument(
        self, number: int, file: SourceFile, call: ast.Call, argument: Argument, callee: SourceFile
    ) -> Frame | None:
        if argument.is_default:
            return callee.frame(argument.value)
        if argument.slot is not None and isinstance(argument.value, ast.Name):
            return self._name(number, file, argument.value.id, call, argument.slot)
        return self._expression(number, file, argument.value, call)

    def _caller(self, callee: int) -> int | None:
        """Return the number of the frame that called another one directly."""
        for number in range(callee - 1, -1, -1):
            if not PASSES_ON.search(self._frames[number].file):
                return number
        return None

    def _expression(
        self, number: int, file: SourceFile, value: ast.expr, call: ast.Call
    ) -> Frame | None:
        """Return the line that last bound the variable of an argument; None if it is not clear."""
        if isinstance(value, ast.Name):
            return self._name(number, file, value.id, call)
        if isinstance(value, ast.NamedExpr):
            return file.frame(value)
        if _part_is_stored(file, value):
            return None
        loop = _outermost_loop(file, call)
        bound: dict[str, Frame] = {}
        names = _variables(file, value)
        for name in names:
            frame = self._name(number, file, name, call)
            if frame is None:
                self.unclear = self.unclear if len(names) == 1 else None
                return None
            if loop is None or _is_inside(frame, file, loop):
                bound[name] = frame
        if len(bound) == 1:
            return next(iter(bound.values()))
        return bound.get(_first_name(value))

    def _name(
        self, number: int, file: SourceFile, name: str, use: ast.AST, part: Slot | None = None
    ) -> Frame | None:
        """Return the line that last bound a name that `use` in the frame `number` reads.

        `part` says which part of the name is meant if it is `*args` or `**kwargs`.
        """
        target = comprehension_binding(file, name, use)
        if target is not None:
            return file.frame(target)
        scope = file.scope_of(use)
        owner = None if scope is None else owner_of(file, scope, name)
        if scope is None or owner is None:
            return None
        candidates = self._candidates(file, name, use, scope, owner)
        found = _certain(candidates)
        if len(candidates) > 1 and owner is scope and part is None:
            self.unclear = UnclearName(file.path, scope_name(scope), name)
        if isinstance(found, ast.arg):
            if owner is not scope or isinstance(owner, ast.Module):
                return None
            slot = Slot(name) if part is None else part._replace(parameter=name)
            return self._parameter(number, file, owner, slot)
        return None if found is None else file.frame(found)

    def _parameter(
        self, number: int, file: SourceFile, function: Function, slot: Slot
    ) -> Frame | None:
        """Return what bound a parameter of the function of a frame: the call, or what it passed."""
        while self._frames[number].function in _COMPREHENSION_FRAMES and number > 0:
            number -= 1
        if self._frames[number].function != function_name(function):
            return None
        found = self._passed(number, file, function, slot)
        # Another part of the same call may have passed a value of `*args` or `**kwargs`.
        is_whole = slot == Slot(slot.parameter)
        is_own_object = _is_method(file, function) and slot.parameter in ("self", "cls")
        if found is not None or not is_whole or is_own_object:
            return found
        return self._call_of(number, function)

    def _call_of(self, number: int, function: Function) -> Frame | None:
        """Return the call of a function: it binds the parameters."""
        above = self._caller(number)
        caller = None if above is None else self._open(self._frames[above].file)
        if above is None or caller is None or not caller.matches(self._frames[above]):
            return None
        call = caller.call_at(self._frames[above])
        if call is None or not _calls(call, function, caller):
            return None
        return caller.frame(call)

    def _candidates(
        self, file: SourceFile, name: str, use: ast.AST, scope: Scope, owner: Scope
    ) -> frozenset[ast.AST]:
        """Return everything that may have bound a name of `owner` last, for a use in `scope`."""
        if isinstance(owner, ast.Module) and file.has_hidden_writes:
            return frozenset()
        others = frozenset(writers_in_functions(file, owner, name))
        point: ast.AST | None = use
        if owner is not scope or is_deferred(file, use, scope):
            point = running_call(file, self._frames) if isinstance(owner, ast.Module) else None
        if point is None:
            found = frozenset(bindings_in(owner, name))
        else:
            context = {id(node) for node in file.around(point)}
            found = reaching_bindings(owner, name, point, context)
        if not (isinstance(owner, ast.Module) and is_builtin(name)):
            found -= {UNBOUND}
        return found | others


def running_call(file: SourceFile, frames: Sequence[Frame]) -> ast.Call | None:
    """Return the call at which the code of a module itself is; None if it is not running."""
    for frame in frames:
        if frame.file == file.path and frame.function == "<module>" and file.matches(frame):
            return file.call_at(frame)
    return None


def writers_in_functions(file: SourceFile, owner: Scope, name: str) -> list[ast.AST]:
    """Return what binds a name of a scope from inside of other functions, as with `global`."""
    declaration = ast.Global if isinstance(owner, ast.Module) else ast.Nonlocal
    found: list[ast.AST] = []
    for node in file.functions:
        if node is owner or not any(each is owner for each in file.around(node)):
            continue
        declared = any(
            isinstance(each, declaration) and name in each.names for each in own_nodes(node)
        )
        if declared:
            found += bindings_in(node, name)
    return found


def _certain(candidates: frozenset[ast.AST]) -> ast.AST | None:
    found = next(iter(candidates)) if len(candidates) == 1 else None
    return None if found is UNBOUND else found


def owner_of(file: SourceFile, scope: Scope, name: str) -> Scope | None:
    """Return the function or module that a name in `scope` belongs to; None if it is unknown."""
    scopes = [scope, *file.enclosing(scope)]
    declared = {
        kind
        for node in own_nodes(scope)
        for kind in (ast.Global, ast.Nonlocal)
        if isinstance(node, kind) and name in node.names
    }
    if ast.Global in declared:
        return scopes[-1]
    for each in scopes[1:] if ast.Nonlocal in declared else scopes:
        if bindings_in(each, name):
            return each
    return None


def _variables(file: SourceFile, value: ast.expr) -> list[str]:
    """Return the names of an expression that hold values: no modules, functions and classes."""
    inside = {name for node in ast.walk(value) for name in _bound_inside(node)}
    found: list[str] = []
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id not in {*inside, *found, *file.imports}:
            scope = file.scope_of(value)
            owner = None if scope is None else owner_of(file, scope, node.id)
            if owner is None and is_builtin(node.id):
                continue
            bindings = [] if owner is None else bindings_in(owner, node.id)
            if not bindings or not all(map(_is_definition, bindings)):
                found.append(node.id)
    return found


def _part_is_stored(file: SourceFile, value: ast.expr) -> bool:
    """Return whether the file stores an attribute or an item that an expression reads."""
    attributes = {node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)}
    holders = {_first_name(node) for node in ast.walk(value) if isinstance(node, ast.Subscript)}
    for node in file.nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if isinstance(node, ast.Attribute) and node.attr in attributes:
                return True
            if isinstance(node, ast.Subscript) and _first_name(node) in holders:
                return True
    return False


def _bound_inside(node: ast.AST) -> set[str]:
    if isinstance(node, ast.comprehension):
        return {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    if isinstance(node, ast.Lambda):
        return {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    return bound_names(node)


def _is_definition(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _first_name(value: ast.expr) -> str:
    """Return the name that an expression such as `batch["ids"].float()` starts with."""
    node: ast.expr = value
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return ""
    return node.id


def _calls(call: ast.Call, function: Function, file: SourceFile) -> bool:
    """Return whether a call passes its arguments to a function that runs during it.

    A builtin such as `map`, and what `functools.partial` made, call it with other arguments.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    name = call.func.id if isinstance(call.func, ast.Name) else name
    if isinstance(call.func, ast.Name) and is_builtin(name):
        return False
    origin = file.imports.get(_first_name(call.func), "").partition(".")[0]
    if origin in ("functools", "itertools", "operator", "torch"):
        return False
    return name == function_name(function) or "partial" not in file.text


def _first_parameter(function: Function) -> str:
    return next((each.arg for each in (*function.args.posonlyargs, *function.args.args)), "")


def _has_item(function: Function, slot: Slot) -> bool:
    """Return whether a slot is an item of one argument, and not one of several arguments."""
    collecting = [each.arg for each in (function.args.vararg, function.args.kwarg) if each]
    is_item = slot.key is not None or slot.position is not None
    return is_item and slot.parameter not in collecting


def _last_store(
    file: SourceFile, call: ast.Call, value: ast.expr, slot: Slot, bound: Frame
) -> Frame | None:
    """Return what wrote an item of a container last, whose name was bound at a line.

    None if that is not clear: there may be several writes, and the name may be bound in each round.
    """
    key: object = slot.position if slot.key is None else slot.key
    name = value.id if isinstance(value, ast.Name) else ""
    stores = [
        node
        for node in file.nodes
        if isinstance(node, ast.Subscript | ast.Call) and _may_store(node, name, key)
    ]
    if not stores:
        return bound
    store = stores[0]
    is_known = isinstance(store, ast.Subscript) and isinstance(store.slice, ast.Constant)
    if len(stores) > 1 or not is_known or file.scope_of(store) is not file.scope_of(call):
        return None
    loop = _outermost_loop(file, call)
    is_repeated = loop is not None and _is_inside(bound, file, loop)
    is_between = bound.file == file.path and bound.line < store.lineno
    is_reached = loop is not None or store.lineno < call.lineno
    statement = file.parents.get(id(store))
    if is_repeated or not is_between or not is_reached or not isinstance(statement, ast.stmt):
        return None
    return file.frame(statement)


def _may_store(node: ast.Subscript | ast.Call, name: str, key: object) -> bool:
    """Return whether a node may write an item of the container with a name."""
    if isinstance(node, ast.Call):
        function = node.func
        return (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == name
            and function.attr in _WRITE_ITEMS
        )
    is_store = not isinstance(node.ctx, ast.Load)
    is_same = isinstance(node.value, ast.Name) and node.value.id == name
    is_other = isinstance(node.slice, ast.Constant) and node.slice.value != key
    return is_store and is_same and not is_other


def _is_method(file: SourceFile, function: Function) -> bool:
    if isinstance(function, ast.Lambda) or not isinstance(
        file.parents.get(id(function)), ast.ClassDef
    ):
        return False
    return not any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list
    )


def _names_class(call: ast.Call, file: SourceFile, function: Function) -> bool:
    """Return whether a method is called as `Class.method(object, ...)`."""
    around = file.parents.get(id(function))
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = value.attr if isinstance(value, ast.Attribute) else ""
    name = value.id if isinstance(value, ast.Name) else name
    return isinstance(around, ast.ClassDef) and name == around.name


def _outermost_loop(file: SourceFile, node: ast.AST) -> ast.AST | None:
    scope = file.scope_of(node)
    found: ast.AST | None = None
    for each in file.around(node):
        if each is scope:
            break
        if isinstance(each, (*_LOOPS, ast.comprehension)) or hasattr(each, "generators"):
            found = each
    return found


def _is_inside(frame: Frame, file: SourceFile, node: ast.AST) -> bool:
    """Return whether a line is inside a loop of a file."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return frame.file == file.path and first <= frame.line <= last


def _statement_at(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> ast.stmt | None:
    """Return the only innermost statement on a line of a function itself."""
    found = [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    last = max((node.lineno for node in found), default=0)
    innermost = [node for node in found if node.lineno == last]
    return innermost[0] if len(innermost) == 1 else None
