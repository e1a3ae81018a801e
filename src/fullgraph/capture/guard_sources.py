"""Read Dynamo's expressions for values: where a value comes from, and its name for people.

Dynamo writes `L['self']._modules['encoder'].k` where the program says `self.encoder.k`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from types import CodeType
from typing import Any, NamedTuple

from fullgraph.capture.stacks import is_wrapper, plain_name
from fullgraph.model.events import ChangePlace

_STACK_VALUE = re.compile(r"___stack\d+$")
_IMPORT_PREFIX = "__import_"
_BUILTINS_PREFIX = "__builtins_dict__"
# The dictionaries in which a module keeps what its users read as attributes.
MODULE_DICTS = frozenset({"_modules", "_parameters", "_buffers", "__dict__"})
# Attributes that are not part of a name: the value itself is meant.
_HIDDEN = frozenset({"__class__", "__code__", "__func__", *MODULE_DICTS})
_INTERNAL_NAME = re.compile(r"(?<!\w)___|\b0x[0-9a-f]+\b|\b\d{9,}\b")
_UNNAMED = "a value"


@dataclass(frozen=True)
class FrameFacts:
    """What is known about the frame whose guards failed."""

    code: CodeType
    # The module whose globals the frame uses.
    module: str
    # The line where the function resumed after a graph break; None if it did not.
    resumed_at: int | None = None
    # The locals of a resumed function that are still the arguments of the original one.
    arguments: frozenset[str] = frozenset()
    # The arguments whose default changed since the last compile, and that have the default now.
    changed_defaults: frozenset[str] = frozenset()
    # Evaluates one of Dynamo's expressions in the frame; raises if it has no value.
    evaluate: Callable[[str], Any] = field(default=lambda source: None)

    @property
    def keywords(self) -> str | None:
        """The name of the function's `**kwargs`; None if it has none."""
        code = self.code
        if not code.co_flags & 0x08:
            return None
        has_args = bool(code.co_flags & 0x04)
        return code.co_varnames[code.co_argcount + code.co_kwonlyargcount + has_args]


def facts_of_frame(frame: Any, evaluate: Callable[[str], Any] = lambda source: None) -> FrameFacts:
    """Return what a frame shows; locals of a resumed function count as those before a break."""
    return FrameFacts(
        code=frame.f_code,
        module=str(frame.f_globals.get("__name__", "")),
        resumed_at=plain_name(frame.f_code.co_name)[1],
        evaluate=evaluate,
    )


class SourceFacts(NamedTuple):
    """Where a value comes from: see `GuardChange`."""

    place: ChangePlace
    name: str
    holder: str = ""


def describe_source(source: str, frame: FrameFacts) -> SourceFacts:
    """Return where the value of one of Dynamo's expressions comes from, and its name."""
    tree = _parse(source)
    if tree is None:
        return SourceFacts("argument", _without_internals(source))
    name = _without_internals(_name(tree, frame))
    return SourceFacts(_place(tree, frame), name, _holder(tree, frame))


def is_in_module(source: str, frame: FrameFacts) -> bool:
    """Return whether one of Dynamo's expressions goes through a module of `torch.nn`."""
    tree = _parse(source)
    if tree is None or _place(tree, frame) not in ("attribute", "parameter"):
        return False
    module = import_module("torch").nn.Module
    return any(isinstance(_evaluated(step, frame), module) for step in _steps(tree))


def position(source: str, frame: FrameFacts) -> int:
    """Return the place of a value among the variables of the function; the last if it has none."""
    tree = _parse(source)
    names = (*frame.code.co_varnames, *frame.code.co_freevars)
    root = _root(tree)[1] if tree is not None else ""
    return names.index(root) if root in names else len(names)


def readable(expression: str, frame: FrameFacts) -> str:
    """Return one of Dynamo's expressions in the names of the program."""
    tree = _parse(expression)
    return _without_internals(_name(tree, frame) if tree is not None else expression)


@lru_cache(maxsize=4096)
def _parse(source: str) -> ast.expr | None:
    """Return the syntax tree, which callers share; None if the text is not an expression."""
    try:
        return ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _without_internals(name: str) -> str:
    return _UNNAMED if _INTERNAL_NAME.search(name) else name


def _steps(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression, then the one whose part it is, and so on to the root."""
    while True:
        yield node
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(args=[inner, *_]):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return


def _root(node: ast.expr) -> tuple[str, str]:
    """Return the scope and the name at the start of an expression; empty if it has neither."""
    for step in _steps(node):
        match step:
            case ast.Subscript(
                value=ast.Name(id=("L" | "G") as scope), slice=ast.Constant(value=str(name))
            ):
                return scope, name
    return "", ""


def _is_root(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)


def _attributes(node: ast.expr) -> list[str]:
    """Return the attributes that lead to a value, the innermost last."""
    found: list[str] = []
    for step in _steps(node):
        if isinstance(step, ast.Attribute) and not _is_method(step):
            found.append(step.attr)
    return found[::-1]


def _is_method(node: ast.Attribute) -> bool:
    """Return whether this is `dict.keys` and the like, not an attribute of the program's value."""
    return isinstance(node.value, ast.Name)


def _place(tree: ast.expr, frame: FrameFacts) -> ChangePlace:
    scope, root = _root(tree)
    attributes = _attributes(tree)
    if not scope:
        return "torch"
    if "__defaults__" in attributes or "__kwdefaults__" in attributes:
        return "default"
    if "cell_contents" in attributes:
        return "closure"
    if scope == "G" and root.startswith(_IMPORT_PREFIX):
        attributes = attributes[1:]
    if "_parameters" in attributes:
        return "parameter"
    if attributes and not _is_part_of_range(tree, frame):
        return "attribute"
    if scope == "G":
        return "global"
    return _place_of_local(root, frame)


def _is_part_of_range(tree: ast.expr, frame: FrameFacts) -> bool:
    """Return whether this is the start, stop or step of a range, which no statement can write."""
    return isinstance(tree, ast.Attribute) and isinstance(_evaluated(tree.value, frame), range)


def _place_of_local(name: str, frame: FrameFacts) -> ChangePlace:
    if _STACK_VALUE.match(name):
        return "break"
    if frame.resumed_at is not None and name not in frame.arguments:
        return "break"
    if name in frame.code.co_freevars:
        return "closure"
    return "default" if name in frame.changed_defaults else "argument"


def _name(node: ast.expr, frame: FrameFacts) -> str:
    match node:
        case ast.Subscript(value=ast.Name(id="L" | "G"), slice=ast.Constant(value=str(name))):
            return _name_of_variable(name, frame)
        case ast.Subscript(
            value=ast.Subscript(value=ast.Name(id="G"), slice=ast.Constant(value=str(scope))),
            slice=ast.Constant(value=str(name)),
        ) if scope.startswith(_BUILTINS_PREFIX):
            return name
        case ast.Subscript(
            value=ast.Attribute(value=inner, attr=attr), slice=ast.Constant(value=key)
        ) if attr in MODULE_DICTS:
            return f"{_name(inner, frame)}{_step_to(key)}"
        case ast.Subscript(value=ast.Attribute(attr="__defaults__" | "__kwdefaults__")):
            return _name_of_default(node, frame)
        case ast.Attribute(value=ast.Subscript(value=inner), attr="cell_contents"):
            return _name_of_cell(node, inner, frame)
        case ast.Attribute(value=inner, attr=attr) if attr in _HIDDEN:
            return _name(inner, frame)
        case ast.Attribute(value=inner, attr=attr):
            return f"{_name(inner, frame)}.{attr}"
        case ast.Subscript(value=ast.Call(func=ast.Name(id="list"), args=[keys])):
            return _name(_without_keys(keys), frame)
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=inner, attr="size" | "stride" as what)),
            slice=index,
        ):
            return f"{_name(inner, frame)}.{what}({ast.unparse(index)})"
        case ast.Subscript(value=inner, slice=key):
            return _name_of_item(inner, key, frame)
        case ast.Call(func=ast.Name(id=function), args=[inner, *_]) if function.startswith("___"):
            return _name(inner, frame)
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[]):
            return _name(inner, frame)
        case _:
            return _name_of_parts(node, frame)


def _name_of_variable(name: str, frame: FrameFacts) -> str:
    if _STACK_VALUE.match(name):
        if frame.resumed_at is None:
            return _UNNAMED
        # The values on the stack at a graph break; the last one is the result of the call there.
        kept = [each for each in frame.code.co_varnames if _STACK_VALUE.match(each)]
        what = "the result" if kept and name == kept[-1] else "a value"
        return f"{what} of line {frame.resumed_at}"
    if name == "fn" and is_wrapper(frame.code):
        # The object that is compiled, as its own method calls it.
        return "self"
    if name.startswith(_IMPORT_PREFIX):
        return name.removeprefix(_IMPORT_PREFIX).replace("_dot_", ".")
    return name


def _step_to(key: object) -> str:
    """Return how a program reaches a member of a module: `.encoder`, or `[0]` in a container."""
    text = str(key)
    return f".{text}" if text.isidentifier() else f"[{text if text.isdigit() else repr(key)}]"


def _without_keys(node: ast.expr) -> ast.expr:
    """Return `d` of `d.keys()` and `dict.keys(d)`."""
    match node:
        case ast.Call(args=[inner, *_]):
            return inner
        case ast.Call(func=ast.Attribute(value=inner)):
            return inner
        case _:
            return node


def _name_of_item(inner: ast.expr, key: ast.expr, frame: FrameFacts) -> str:
    match inner, key:
        case ast.Subscript(value=ast.Name(id="L"), slice=ast.Constant(value=name)), ast.Constant(
            value=str(keyword)
        ) if name == frame.keywords:
            return keyword
    return f"{_name(inner, frame)}[{_name(key, frame)}]"


def _name_of_default(node: ast.Subscript, frame: FrameFacts) -> str:
    """Return the name of the argument whose default a value is."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Subscript(
            value=ast.Attribute(value=function), slice=ast.Constant(value=int(index))
        ):
            found = _evaluated(function, frame)
            code = getattr(found, "__code__", None)
            defaults = getattr(found, "__defaults__", None) or ()
            if isinstance(code, CodeType) and index < len(defaults):
                return code.co_varnames[code.co_argcount - len(defaults) + index]
    return f"a default of {_name_of_parts(node, frame)}"


def _name_of_cell(node: ast.expr, cells: ast.expr, frame: FrameFacts) -> str:
    """Return the name of the variable that a closure cell holds."""
    match node, cells:
        case ast.Attribute(
            value=ast.Subscript(slice=ast.Constant(value=int(index)))
        ), ast.Attribute(value=function):
            code = getattr(_evaluated(function, frame), "__code__", None)
            if isinstance(code, CodeType) and index < len(code.co_freevars):
                return code.co_freevars[index]
    return "a closure variable"


def _name_of_parts(node: ast.expr, frame: FrameFacts) -> str:
    """Return an expression with the roots inside of it under the names of the program."""

    class Renamer(ast.NodeTransformer):
        def visit_Subscript(self, found: ast.Subscript) -> ast.AST:
            return _as_name(_name(found, frame))

        def visit_Attribute(self, found: ast.Attribute) -> ast.AST:
            if _root(found)[0]:
                return _as_name(_name(found, frame))
            return self.generic_visit(found)

    if isinstance(node, ast.Subscript | ast.Attribute):
        return ast.unparse(node)
    return ast.unparse(ast.fix_missing_locations(Renamer().visit(deepcopy(node))))


def _as_name(text: str) -> ast.expr:
    return ast.Name(id=text, ctx=ast.Load())


def _evaluated(node: ast.expr, frame: FrameFacts) -> Any:
    """Return the value of an expression; None if it has none."""
    try:
        return frame.evaluate(ast.unparse(node))
    except Exception:
        return None


def _holder(tree: ast.expr, frame: FrameFacts) -> str:
    """Return the class whose instance has the attribute, or the module that has the global."""
    root = _root(tree)[1]
    place = _place(tree, frame)
    if place == "global":
        return _name_of_variable(root, frame) if root.startswith(_IMPORT_PREFIX) else frame.module
    for step in _steps(tree):
        match step:
            case ast.Attribute(value=function, attr="__defaults__" | "__kwdefaults__"):
                return _name(function, frame)
            case ast.Subscript(value=ast.Attribute(value=owner, attr=attr)) if (
                attr in MODULE_DICTS and place in ("attribute", "parameter")
            ):
                return _class_of(owner, frame)
            case ast.Attribute(value=owner) if place == "attribute" and not _is_method(step):
                return _class_of(owner, frame)
    return ""


def _class_of(node: ast.expr, frame: FrameFacts) -> str:
    value = _evaluated(node, frame)
    return "" if value is None else type(value).__qualname__
