"""Map the parameter of a function to the argument of a call."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from fullgraph.analysis.user_lines.source_file import Function

_LOCAL = re.compile(r"L\['(\w+)'\](?:\[(?:(\d+)|'([^']*)')\])?")


class Slot(NamedTuple):
    """A parameter of a function: for `*args` a position, and for `**kwargs` a key, tells which."""

    parameter: str
    position: int | None = None
    key: str | None = None


class Argument(NamedTuple):
    """The expression that a call passes: itself, or the part of it that is unpacked.

    `slot` says which part of `*args` or `**kwargs` it is, without the name of the parameter.
    """

    value: ast.expr
    slot: Slot | None = None
    is_default: bool = False


def slot_of(source: str) -> Slot | None:
    """Return the parameter in Dynamo's name of a value, such as `L['args'][0]`."""
    match = _LOCAL.search(source)
    if match is None:
        return None
    name, position, key = match.groups()
    return Slot(name, None if position is None else int(position), key)


def arguments_for(
    call: ast.Call, function: Function, slot: Slot, skip_first: bool
) -> list[Argument]:
    """Return what a call may pass for a parameter; nothing if the call does not fit the function.

    There are two answers if a call unpacks both `*args` and `**kwargs`; at most one of them has the
    parameter. `skip_first` says that Python passes the first parameter itself, as for a method.
    """
    arguments = function.args
    names = [each.arg for each in [*arguments.posonlyargs, *arguments.args]][skip_first:]
    if not _fits(call, function, names):
        return []
    if arguments.vararg is not None and slot.parameter == arguments.vararg.arg:
        return [] if slot.position is None else _positional(call, len(names) + slot.position)
    if arguments.kwarg is not None and slot.parameter == arguments.kwarg.arg:
        return [] if slot.key is None else _keyword(call, slot.key)
    given = [each for each in _keyword(call, slot.parameter) if each.slot is None]
    if not given and slot.parameter in names:
        given = _positional(call, names.index(slot.parameter))
    if given and given[0].slot is None:
        return given
    return [*given, *_keyword(call, slot.parameter), *_default(arguments, slot.parameter)]


def _fits(call: ast.Call, function: Function, names: list[str]) -> bool:
    """Return whether the function accepts as many arguments, and those keywords."""
    arguments = function.args
    starred = [number for number, each in enumerate(call.args) if isinstance(each, ast.Starred)]
    if starred and starred != [len(call.args) - 1]:
        return False
    given = len(call.args) - len(starred)
    if given > len(names) and arguments.vararg is None:
        return False
    keywords = {each.arg for each in call.keywords if each.arg is not None}
    positional_only = {each.arg for each in arguments.posonlyargs}
    accepted = {*names, *(each.arg for each in arguments.kwonlyargs)} - positional_only
    if arguments.kwarg is None and not keywords <= accepted:
        return False
    if starred or any(each.arg is None for each in call.keywords):
        return True
    optional = {parameter.arg for parameter, _ in defaults_of(arguments)}
    return all(name in keywords or name in optional for name in names[given:])


def _positional(call: ast.Call, number: int) -> list[Argument]:
    if number < len(call.args) and not isinstance(call.args[number], ast.Starred):
        return [Argument(call.args[number])]
    last = call.args[-1] if call.args else None
    if isinstance(last, ast.Starred):
        return [Argument(last.value, Slot("", position=number - len(call.args) + 1))]
    return []


def _keyword(call: ast.Call, name: str) -> list[Argument]:
    for keyword in call.keywords:
        if keyword.arg == name:
            return [Argument(keyword.value)]
    unpacked = [each.value for each in call.keywords if each.arg is None]
    return [Argument(unpacked[0], Slot("", key=name))] if len(unpacked) == 1 else []


def _default(arguments: ast.arguments, name: str) -> list[Argument]:
    return [
        Argument(default, is_default=True)
        for parameter, default in defaults_of(arguments)
        if parameter.arg == name
    ]


def defaults_of(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """Return the parameters that have a default, each with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [
        *zip(with_default, arguments.defaults, strict=True),
        *((parameter, default) for parameter, default in keyword_only if default is not None),
    ]
