"""Find the line that last wrote an attribute, global, default or closure cell, by exclusion.

Every statement of the user's files that could have written it is a candidate. One that assigns
another constant than the new value is out. The last one left is the line; if there are several, or
if something could write without showing the name, there is no answer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fullgraph.analysis.user_lines.arguments import defaults_of
from fullgraph.analysis.user_lines.bindings import (
    FUNCTIONS,
    UNBOUND,
    Scope,
    bindings_in,
    reaching_bindings,
)
from fullgraph.analysis.user_lines.bound import owner_of, running_call, writers_in_functions
from fullgraph.analysis.user_lines.source_file import SourceFile, function_name
from fullgraph.model.events import Code, Frame, GuardChange

_GLOBAL = re.compile(r"^G\['(\w+)'\]$")
_LAST_ATTRIBUTE = re.compile(r"(?:\.(?:__dict__|_modules|_buffers)\['(\w+)'\]|\.(\w+))$")
_LAST_NAME = re.compile(r"(\w+)\W*$")
_DEFAULTS = re.compile(r"(?:\['|\.)(\w+)(?:'\])?\.__(?:kw)?defaults__")
_CONSTANT_KINDS = {"int": int, "float": float, "str": str, "bool": bool, "none": type(None)}
# Methods of torch's modules that write an attribute, by its name.
_METHODS_THAT_WRITE = {
    "training": frozenset({"train", "eval"}),
    "requires_grad": frozenset({"requires_grad_"}),
}
_CHANGES_LENGTH = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem",
     "add", "discard", "appendleft", "popleft"}
)  # fmt: skip
_SETATTR = frozenset({"setattr", "delattr", "__setattr__"})
_HIDDEN_NAMES = frozenset({"exec", "eval", "globals", "vars", "locals", "__dict__"})


def attribute_of(change: GuardChange) -> str:
    """Return the name of the attribute that changes; empty if it is none."""
    if change.place != "attribute":
        return ""
    if change.source.endswith(".__dict__") and change.kind == "keys":
        # An object has a new attribute.
        new = change.now.strip("'")
        return new if new.isidentifier() else ""
    match = _LAST_ATTRIBUTE.search(change.source)
    return "" if match is None else match[1] or match[2]


class Writer(NamedTuple):
    """A statement or expression that writes, and its file."""

    file: SourceFile
    node: ast.AST


class WriterFinder:
    """Finds writers in the user's files; `frames` is the stack when the value had changed."""

    def __init__(self, files: Sequence[SourceFile], frames: Sequence[Frame]) -> None:
        self._files = files
        self._frames = frames

    def find(self, code: Code, change: GuardChange) -> Frame | None:
        """Return the line that last wrote what a guard found changed; None if it is not clear."""
        writers = self._writers(code, change)
        if writers is None:
            return None
        possible = [writer for writer in writers if not _writes_another_value(writer, change)]
        return possible[0].file.frame(possible[0].node) if len(possible) == 1 else None

    def _writers(self, code: Code, change: GuardChange) -> list[Writer] | None:
        """Return everything that could have written a value; None if something unseen could."""
        if change.kind in _METHODS_THAT_WRITE:
            return self._attribute(change.kind)
        if change.place == "default":
            return self._default(change)
        if change.place == "closure":
            return self._with_contents(self._cell(code, change), change)
        if change.place == "global":
            return self._with_contents(self._global(code, change), change)
        name = attribute_of(change)
        if not name or not self._is_ours(change.holder):
            return None
        found = self._attribute(name)
        return self._with_contents(found, change) if is_about_contents(change) else found

    def _is_ours(self, holder: str) -> bool:
        """Return whether the class of an object is the user's: a library may write its own."""
        name = holder.rpartition(".")[2]
        return any(
            isinstance(node, ast.ClassDef) and node.name == name
            for file in self._files
            for node in file.nodes
        )

    def _attribute(self, name: str) -> list[Writer] | None:
        found: list[Writer] = []
        for file in self._files:
            for node in file.nodes:
                if _may_write_any(node) or _is_field(file, node, name):
                    return None
                if _writes_attribute(node, name):
                    found.append(Writer(file, _statement_of(file, node)))
                elif isinstance(node, ast.ClassDef):
                    found += [Writer(file, each) for each in _class_attributes(node, name)]
        return _distinct(found)

    def _with_contents(
        self, writers: list[Writer] | None, change: GuardChange
    ) -> list[Writer] | None:
        """Return also what adds to or removes from a container, if that is what changed."""
        if writers is None or not is_about_contents(change):
            return writers
        match = _LAST_NAME.search(change.name)
        found = list(writers)
        for file in self._files:
            for node in file.nodes:
                if match is None or not _is_use(node, match[1]):
                    continue
                around = file.parents.get(id(node))
                outer = file.parents.get(id(around)) if around is not None else None
                if isinstance(around, ast.Attribute):
                    if around.attr in _CHANGES_LENGTH and isinstance(outer, ast.Call):
                        found.append(Writer(file, _statement_of(file, node)))
                elif isinstance(around, ast.Subscript) and around.value is node:
                    if not isinstance(around.ctx, ast.Load):
                        found.append(Writer(file, _statement_of(file, node)))
                elif _is_read(node) and not _only_reads(around, node):
                    # The container has another name from here on.
                    return None
        return _distinct(found)

    def _global(self, code: Code, change: GuardChange) -> list[Writer] | None:
        match = _GLOBAL.match(change.source)
        file = next((each for each in self._files if each.path == code.file), None)
        if match is None or file is None or file.has_hidden_writes:
            return None
        name = match[1]
        call = running_call(file, self._frames)
        if call is None:
            nodes = frozenset(bindings_in(file.tree, name))
        else:
            context = {id(node) for node in file.around(call)}
            nodes = reaching_bindings(file.tree, name, call, context) - {UNBOUND}
        nodes |= frozenset(writers_in_functions(file, file.tree, name))
        found = [Writer(file, node) for node in nodes]
        for other in self._files:
            for node in other.nodes:
                if _may_write_any(node):
                    return None
                if _writes_attribute(node, name) and _is_module(other, node):
                    found.append(Writer(other, _statement_of(other, node)))
        return _distinct(found)

    def _cell(self, code: Code, change: GuardChange) -> list[Writer] | None:
        match = _LAST_NAME.search(change.name)
        owners = [] if match is None else list(self._cell_owners(code, match[1]))
        if match is None or len(owners) != 1:
            return None
        file, owner = owners[0]
        nodes = [*bindings_in(owner, match[1]), *writers_in_functions(file, owner, match[1])]
        writers = [Writer(file, node) for node in nodes]
        if nodes and isinstance(nodes[0], ast.arg) and isinstance(owner, ast.FunctionDef):
            call = self._only_call(owner)
            return None if call is None else [call, *writers[1:]]
        return writers

    def _cell_owners(self, code: Code, name: str) -> Iterator[tuple[SourceFile, Scope]]:
        """Yield the functions whose local a cell may be: that of the compiled function first."""
        file = next((each for each in self._files if each.path == code.file), None)
        function = None if file is None else file.function_of(code)
        if file is not None and function is not None:
            owner = owner_of(file, function, name)
            if owner is not None and owner is not function and not isinstance(owner, ast.Module):
                yield file, owner
                return
        for each in self._files:
            owners = {id(owner): owner for owner in _owners_of_free(each, name)}
            yield from ((each, owner) for owner in owners.values())

    def _only_call(self, function: ast.FunctionDef) -> Writer | None:
        """Return the only use of a function in the program, if it is a call."""
        uses = [
            Writer(file, node)
            for file in self._files
            for node in file.nodes
            if (isinstance(node, ast.Name) and node.id == function.name)
            or (isinstance(node, ast.Attribute) and node.attr == function.name)
        ]
        if len(uses) != 1:
            return None
        file, node = uses[0]
        around = file.parents.get(id(node))
        if isinstance(around, ast.Call) and around.func is node:
            return Writer(file, around)
        return None

    def _default(self, change: GuardChange) -> list[Writer] | None:
        match = _DEFAULTS.search(change.source)
        is_global = change.source.startswith("G[")
        found: list[Writer] = []
        for file in self._files:
            for node in file.nodes:
                if _may_write_any(node):
                    return None
                if _writes_attribute(node, "__defaults__", "__kwdefaults__"):
                    if is_global and match and _is_of_another_function(file, node, match[1]):
                        continue
                    found.append(Writer(file, _statement_of(file, node)))
                elif isinstance(node, FUNCTIONS) and _can_run_again(file, node):
                    # A parameter that holds the function may have any name.
                    is_named = not is_global or match is None or function_name(node) == match[1]
                    defaults = [parameter.arg for parameter, _ in defaults_of(node.args)]
                    if is_named and change.name in defaults:
                        found.append(Writer(file, node))
        return _distinct(found)


def is_about_contents(change: GuardChange) -> bool:
    """Return whether a container has other contents, and may still be the same object."""
    return change.kind in ("length", "keys") and not change.source.endswith(".__dict__")


def _is_use(node: ast.AST, name: str) -> bool:
    """Return whether a node is a name, or an attribute of this name."""
    if isinstance(node, ast.Attribute):
        return node.attr == name
    return isinstance(node, ast.Name) and node.id == name


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _owners_of_free(file: SourceFile, name: str) -> Iterator[Scope]:
    for node in file.nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        reads = any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
        owner = owner_of(file, node, name) if reads else None
        if owner is not None and owner is not node and not isinstance(owner, ast.Module):
            yield owner


def _writes_attribute(node: ast.AST, *names: str) -> bool:
    match node:
        case ast.Attribute(attr=attribute, ctx=ast.Store() | ast.Del()):
            return attribute in names
        case ast.Call(func=ast.Attribute(attr=method)) if any(
            method in _METHODS_THAT_WRITE.get(name, ()) for name in names
        ):
            return True
        case ast.Call(func=function, args=[_, ast.Constant(value=str(value)), *_]):
            return (
                _called_name(function) in ("setattr", "delattr", "__setattr__") and value in names
            )
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=str(value)), *_]):
            return method in ("register_buffer", "register_parameter") and value in names
    return False


def _may_write_any(node: ast.AST) -> bool:
    """Return whether a node may write an attribute or a global whose name it does not show."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _HIDDEN_NAMES:
            # `model.eval()` is another function.
            return name != "eval" or isinstance(node, ast.Name)
        case ast.Call(func=function, args=[_, second, *_]):
            writes = _called_name(function) in _SETATTR
            return writes and not isinstance(second, ast.Constant)
        case ast.FunctionDef(name="__setattr__" | "__getattribute__"):
            return True
    return False


def _called_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _class_attributes(node: ast.ClassDef, name: str) -> Iterator[ast.stmt]:
    for each in node.body:
        targets: list[ast.expr] = []
        if isinstance(each, ast.Assign):
            targets = each.targets
        elif isinstance(each, ast.AnnAssign) and each.value is not None:
            targets = [each.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            yield each


def _is_of_another_function(file: SourceFile, node: ast.AST, name: str) -> bool:
    """Return whether an attribute is that of a function with another name."""
    value = node.value if isinstance(node, ast.Attribute) else None
    if not isinstance(value, ast.Name) or value.id == name:
        return False
    bindings = bindings_in(file.tree, value.id)
    return bool(bindings) and all(isinstance(each, ast.FunctionDef) for each in bindings)


def _is_field(file: SourceFile, node: ast.AST, name: str) -> bool:
    """Return whether a node declares an attribute that a generated `__init__` may write."""
    return (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == name
        and isinstance(file.parents.get(id(node)), ast.ClassDef)
    )


def _only_reads(around: ast.AST | None, node: ast.AST) -> bool:
    """Return whether what is around a container reads it without keeping it."""
    match around:
        case ast.Call(func=ast.Name(id=name)):
            return name in ("len", "list", "tuple", "sorted", "sum", "enumerate", "zip", "print",
                            "range", "max", "min", "any", "all", "set", "dict", "bool")  # fmt: skip
        case ast.Call(func=ast.Attribute() as function):
            return ast.unparse(function).startswith("torch.")
        case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value):
            return value is node
        case ast.Compare() | ast.If() | ast.While() | ast.BoolOp() | ast.UnaryOp():
            return True
    return False


def _is_module(file: SourceFile, node: ast.AST) -> bool:
    """Return whether a write may be one to an attribute of a module."""
    target = node.args[0] if isinstance(node, ast.Call) and node.args else node
    while isinstance(target, ast.Attribute):
        target = target.value
    return not isinstance(target, ast.Name) or target.id in file.imports


def _can_run_again(file: SourceFile, node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.While)
        for each in file.around(node)
        if each is not node
    )


def _statement_of(file: SourceFile, node: ast.AST) -> ast.AST:
    """Return the statement around a node; for a compound one, the node itself."""
    for each in file.around(node):
        if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Delete):
            return each
        if isinstance(each, ast.stmt):
            break
    return node


def _writes_another_value(writer: Writer, change: GuardChange) -> bool:
    """Return whether a statement assigns a constant that is not the new value."""
    if is_about_contents(change) and isinstance(writer.node, ast.Assign | ast.AnnAssign):
        length = _length_of(writer.node.value)
        return length is not None and change.kind == "length" and str(length) != change.now
    written = _constant_of(writer.node)
    expected = _CONSTANT_KINDS.get(change.kind)
    if change.kind == "training":
        expected = bool
    if written is None or expected is None:
        return False
    try:
        now = ast.literal_eval(change.now)
    except (ValueError, SyntaxError):
        return False
    if not isinstance(now, expected) and now is not None:
        return False
    return (type(now), now) != (type(written.value), written.value)


def _length_of(value: ast.expr | None) -> int | None:
    """Return how many items a display such as `[]` has; None if that is not clear."""
    items = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", None)
    if items is None or any(each is None or isinstance(each, ast.Starred) for each in items):
        return None
    return len(items)


def _constant_of(node: ast.AST) -> ast.Constant | None:
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="eval"), args=[])):
            return ast.Constant(False)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="train"), args=[])):
            return ast.Constant(True)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="train"), args=[value])):
            pass
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[_, _, value])):
            pass
        case _:
            return None
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = value.operand
        if isinstance(inner, ast.Constant) and isinstance(inner.value, int | float):
            return ast.Constant(-inner.value)
    return value if isinstance(value, ast.Constant) else None


def _distinct(writers: Iterable[Writer]) -> list[Writer]:
    return list({id(writer.node): writer for writer in writers}.values())
