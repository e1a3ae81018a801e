"""Find the instructions of a code object that bind a name or write an attribute."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

_LOADS = ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF")
_BETWEEN = frozenset({"CACHE", "COPY_FREE_VARS", "RESUME", "NOP", "EXTENDED_ARG"})


class Store(NamedTuple):
    """An instruction that stores; for an attribute, `holder` is the path of the object.

    `scope` is "local", "global" (also for the names of a module's own code), "cell" or "attribute".
    An object with an empty path is not known.
    """

    scope: str
    name: str
    line: int
    holder: tuple[str, ...] = ()


def stores_of(code: CodeType, names: frozenset[str]) -> dict[int, tuple[Store, ...]]:
    """Return the instructions of a code object that store one of these names, by their offset."""
    if names.isdisjoint((*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)):
        return {}
    found: dict[int, tuple[Store, ...]] = {}
    before: list[dis.Instruction] = []
    for instruction in dis.get_instructions(code):
        stored = tuple(_stored(instruction, before, code))
        wanted = tuple(store for store in stored if store.name in names)
        if wanted:
            found[instruction.offset] = wanted
        if instruction.opname not in _BETWEEN:
            before.append(instruction)
    return found


def _stored(
    instruction: dis.Instruction, before: Sequence[dis.Instruction], code: CodeType
) -> Iterator[Store]:
    positions = instruction.positions
    line = (positions.lineno if positions is not None else None) or code.co_firstlineno
    name = instruction.argval
    match instruction.opname:
        case "STORE_FAST" | "STORE_FAST_MAYBE_NULL":
            yield Store("local", name, line)
        case "STORE_FAST_STORE_FAST":
            yield from (Store("local", each, line) for each in name)
        case "STORE_FAST_LOAD_FAST":
            yield Store("local", name[0], line)
        case "STORE_NAME" if code.co_name == "<module>":
            yield Store("global", name, line)
        case "STORE_GLOBAL":
            yield Store("global", name, line)
        case "STORE_DEREF":
            yield Store("cell", name, line)
        case "STORE_ATTR":
            yield Store("attribute", name, line, _path(before, name))


def _path(before: Sequence[dis.Instruction], attribute: str) -> tuple[str, ...]:
    """Return `("self", "encoder")` if the last instructions load `self.encoder`; else nothing."""
    if before and before[-1].opname == "SWAP":
        # `self.encoder.k += 1` loads the object once and keeps a copy of it.
        before = _before_copy(before, attribute)
    path: list[str] = []
    for instruction in reversed(before):
        if instruction.opname == "LOAD_ATTR":
            path.append(instruction.argval)
        elif instruction.opname.startswith(_LOADS):
            name = instruction.argval
            return (name if isinstance(name, str) else name[-1], *reversed(path))
        else:
            break
    return ()


def _before_copy(before: Sequence[dis.Instruction], attribute: str) -> Sequence[dis.Instruction]:
    for place in range(len(before) - 2, 0, -1):
        copy, load = before[place], before[place + 1]
        if copy.opname == "COPY" and (load.opname, load.argval) == ("LOAD_ATTR", attribute):
            return before[:place]
    return ()


def holder_of(store: Store, frame: FrameType) -> Any:
    """Return the object whose attribute is stored; None if it is not known."""
    if not store.holder:
        return None
    first, *rest = store.holder
    scopes: tuple[Mapping[str, Any], ...] = (frame.f_locals, frame.f_globals)
    found = next((scope[first] for scope in scopes if first in scope), None)
    for name in rest:
        # Properties and __getattr__ of the program are not run.
        members = getattr(found, "__dict__", {})
        modules = members.get("_modules") or {}
        found = members.get(name, modules.get(name))
    return found
