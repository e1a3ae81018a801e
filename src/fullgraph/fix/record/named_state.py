"""The values that a function reaches by name: globals, closure variables, attributes of objects.

They are compared after each call, and put back after each probe. Values that may be large, such as
data sets, are left out.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from fullgraph.fix.record.snapshot import function_of, restore_of_entry, restores_of
from fullgraph.outcomes.observe import Leaf, flattened, tensors_in

_MOST_FUNCTIONS = 50
_DEEPEST = 3
# Of a container, and of a tensor.
_LARGEST = 256
_LARGEST_TENSOR = 1 << 16
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_NOT_OWN = (os.path.dirname(torch.__file__), os.path.dirname(os.__file__))


class _Place(NamedTuple):
    label: str
    # A dictionary with the name, or a closure variable.
    space: Any
    name: str


class NamedState:
    """The plain values that a compiled function can reach by name, as they are now."""

    def __init__(self, original: Any) -> None:
        self._places = list(_places_of(original))
        self._restores = []
        for place in self._places:
            value = _value_of(place)
            self._restores.append(restore_of_entry(place.space, place.name))
            if _is_compared(value):
                self._restores += restores_of(value, _DEEPEST)

    def restore(self) -> None:
        """Put all values back, with what is in them."""
        for restore in self._restores:
            restore()

    def leaves(self) -> dict[str, Leaf]:
        """Return what the values are now."""
        found: dict[str, Leaf] = {}
        for place in self._places:
            value = _value_of(place)
            if _is_compared(value):
                # Other attributes of its objects may not be readable.
                with suppress(Exception):
                    leaves = flattened(value, deepest=_DEEPEST)
                    found |= {f"{place.label}{path}": leaf for path, leaf in leaves.items()}
        return found

    def dictionaries(self) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield the values that are in a dictionary: a label, the dictionary, and the name."""
        for place in self._places:
            if isinstance(place.space, dict):
                yield place.label, place.space, place.name

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the tensors in the values, by name."""
        return {
            f"{place.label} {number}": tensor
            for place in self._places
            if _is_compared(value := _value_of(place))
            for number, tensor in enumerate(tensors_in(value, _DEEPEST))
        }


def _value_of(place: _Place) -> Any:
    if isinstance(place.space, dict):
        return place.space.get(place.name)
    try:
        return place.space.cell_contents
    except ValueError:
        return None


def _is_compared(value: Any) -> bool:
    try:
        return _parts_within(value, _LARGEST, _DEEPEST) <= _LARGEST
    except Exception:
        # An object may do anything when it is asked for its length or its attributes.
        return False


def _parts_within(value: Any, most: int, depth: int) -> int:
    """Return how many parts a value has; more than `most` if it is too large, or of another kind.

    Parts of containers may be of any kind, because only those that are plain are compared.
    """
    if type(value) in _PLAIN:
        return 1
    if isinstance(value, torch.Tensor):
        plain = type(value) in (torch.Tensor, torch.nn.Parameter)
        return 1 if plain and value.numel() <= _LARGEST_TENSOR else most + 1
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return 1 if value.size <= _LARGEST_TENSOR and value.dtype != object else most + 1
    parts: Iterable[Any]
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, _CONTAINERS):
        parts = value
    elif _is_own_object(value):
        parts = getattr(value, "__dict__", {}).values()
    else:
        return most + 1 if depth == _DEEPEST else 1
    if not depth:
        return 1
    found = 1
    for part in parts:
        found += _parts_within(part, most - found, depth - 1)
        if found > most:
            break
    return found


def _is_own_object(value: Any) -> bool:
    """Return whether a value is an object of a class of the program."""
    if isinstance(value, ModuleType | torch.nn.Module | type) or callable(value):
        return False
    module = sys.modules.get(type(value).__module__)
    file = getattr(module, "__file__", None)
    return file is not None and _is_own_file(file)


def _is_own_file(file: str) -> bool:
    return not file.startswith(_NOT_OWN) and "site-packages" not in Path(file).parts


def _places_of(original: Any) -> Iterator[_Place]:
    """Yield where the functions that a function can reach find plain values."""
    waiting: list[FunctionType] = []
    if isinstance(original, torch.nn.Module):
        kinds = dict.fromkeys(type(part) for part in original.modules())
        waiting = [each for kind in kinds if (each := _forward_of(kind)) is not None]
    elif (function := function_of(original)) is not None:
        waiting = [function]
        owner = getattr(original, "__self__", None)
        if owner is not None and _is_own_object(owner):
            yield from (_Place(f"self.{name}", vars(owner), name) for name in _attributes(owner))
    seen: set[FunctionType] = set()
    places: set[tuple[int, str]] = set()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        function = waiting.pop()
        if function in seen or not _is_own_file(function.__code__.co_filename):
            continue
        seen.add(function)
        for place in _places_in(function):
            key = (id(place.space), place.name)
            value = _value_of(place)
            if isinstance(value, FunctionType):
                waiting.append(value)
            elif key not in places:
                places.add(key)
                if _is_compared(value):
                    yield place


def _forward_of(kind: type) -> FunctionType | None:
    forward = getattr(kind, "forward", None)
    return forward if isinstance(forward, FunctionType) else None


def _attributes(owner: Any) -> list[str]:
    return list(getattr(owner, "__dict__", {}))


def _places_in(function: FunctionType) -> Iterator[_Place]:
    table = function.__globals__
    names = _names(function.__code__)
    for name in sorted(names):
        if name.startswith("__") or name not in table:
            continue
        value = table[name]
        if not isinstance(value, ModuleType):
            yield _Place(name, table, name)
            continue
        # `settings.SCALE`
        file = getattr(value, "__file__", None)
        if file is not None and _is_own_file(file):
            for inner in sorted(names & vars(value).keys()):
                yield _Place(f"{name}.{inner}", vars(value), inner)
    variables = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in variables:
        yield _Place(f"{function.__name__}: {name}", cell, name)


def _names(code: CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names, inner))
