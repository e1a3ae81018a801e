"""What a compiled function can reach by name, and how to put it back.

For processes that cannot be forked: each recorded call has a snapshot of the globals, closure
variables, attributes of objects and modules that its function can see. Where a process can be
forked, checkpoints keep everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch

_DEEPEST = 4
_Restore = Callable[[], None]


class Snapshot:
    """The values that some functions can reach, as they are now."""

    def __init__(self, originals: Sequence[Any], modules: Sequence[torch.nn.Module | None]) -> None:
        self._restores = [
            *(restore for original in originals for restore in _restores_of_names(original)),
            *(restore for module in modules for restore in _restores_of_module(module)),
        ]

    def restore(self) -> None:
        """Put everything back as far as that is possible."""
        for restore in self._restores:
            restore()


def function_of(original: Any) -> FunctionType | None:
    """Return the plain function of a function, a method or a module; None without one."""
    function = type(original).forward if isinstance(original, torch.nn.Module) else original
    function = getattr(function, "__func__", function)
    return function if isinstance(function, FunctionType) else None


def named_values(original: Any) -> Iterator[tuple[str, Any]]:
    """Yield the plain values that a function can reach by name, and the object of a method."""
    function = function_of(original)
    if function is None:
        return
    for name, value in list(function.__globals__.items()):
        if not name.startswith("__") and _is_plain(value):
            yield name, value
    for name, cell in _cells(function):
        if _is_plain(cell.cell_contents):
            yield name, cell.cell_contents
    owner = getattr(original, "__self__", None)
    if owner is not None and _is_plain(owner):
        yield "self", owner


def _cells(function: FunctionType) -> Iterator[tuple[str, CellType]]:
    """Yield the closure variables of a function that have a value."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            _ = cell.cell_contents
        except ValueError:
            continue
        yield name, cell


def _is_plain(value: Any) -> bool:
    return not isinstance(value, ModuleType | torch.nn.Module | type) and not callable(value)


def _restores_of_names(original: Any) -> Iterator[_Restore]:
    function = function_of(original)
    if function is None:
        return
    table = function.__globals__
    names = {name: value for name, value in table.items() if not name.startswith("__")}
    yield lambda: _restore_entries(table, names)
    for value in names.values():
        yield from restores_of(value, _DEEPEST)
    for _, cell in _cells(function):
        yield _restore_of_cell(cell)
        yield from restores_of(cell.cell_contents, _DEEPEST)
    owner = getattr(original, "__self__", None)
    if owner is not None:
        yield from restores_of(owner, _DEEPEST)


def _restore_of_cell(cell: CellType) -> _Restore:
    content = cell.cell_contents

    def restore() -> None:
        if cell.cell_contents is not content:
            cell.cell_contents = content

    return restore


def _restores_of_module(module: torch.nn.Module | None) -> Iterator[_Restore]:
    for part in module.modules() if module is not None else ():
        for table in (vars(part), part._buffers):
            yield _restore_of_entries(table)
            for value in table.values():
                yield from restores_of(value, _DEEPEST)
        for parameter in part._parameters.values():
            if parameter is not None:
                yield _restore_of_tensor(parameter)


def _restore_of_entries(table: dict[str, Any]) -> _Restore:
    before = dict(table)
    return lambda: _restore_entries(table, before)


def _restore_entries(table: dict[str, Any], before: dict[str, Any]) -> None:
    for name in [each for each in table if each not in before and not each.startswith("__")]:
        del table[name]
    for name, value in before.items():
        # Any assignment fails guards on the version of the dict.
        if table.get(name, table) is not value:
            table[name] = value


def restores_of(value: Any, depth: int) -> Iterator[_Restore]:
    """Yield what gives a value, and what it contains, its content of now."""
    if not _is_plain(value) or not depth:
        return
    parts: list[Any] = []
    if isinstance(value, torch.Tensor):
        yield _restore_of_tensor(value)
    elif isinstance(value, list):
        before = list(value)
        yield lambda: _restore_list(value, before)
        parts = before
    elif isinstance(value, set | dict):
        yield _restore_of_table(value)
        parts = list(value.values()) if isinstance(value, dict) else []
    elif isinstance(value, tuple):
        parts = list(value)
    elif isinstance(attributes := getattr(value, "__dict__", None), dict):
        yield _restore_of_entries(attributes)
        parts = list(attributes.values())
    for part in parts:
        yield from restores_of(part, depth - 1)


def _restore_list(value: list[Any], before: list[Any]) -> None:
    if not _same_objects(value, before):
        value[:] = before


def _same_objects(now: Iterable[Any], before: Iterable[Any]) -> bool:
    return list(map(id, now)) == list(map(id, before))


def _restore_of_table(table: set[Any] | dict[Any, Any]) -> _Restore:
    before = table.copy()

    def restore() -> None:
        # Any assignment fails guards on the version of a dictionary.
        same = _same_objects(table, before)
        if isinstance(table, dict) and isinstance(before, dict):
            same = same and _same_objects(table.values(), before.values())
        if not same:
            table.clear()
            table.update(before)

    return restore


def restore_of_entry(space: Any, name: str) -> _Restore:
    """Return what gives a name in a dictionary, or a closure variable, its value of now."""
    if not isinstance(space, dict):
        return _restore_of_cell(space)
    value = space.get(name, space)

    def restore() -> None:
        if value is space:
            space.pop(name, None)
        elif space.get(name, space) is not value:
            space[name] = value

    return restore


def _restore_of_tensor(tensor: torch.Tensor) -> _Restore:
    before = tensor.detach().clone()

    def restore() -> None:
        if not torch.equal(tensor, before):
            with torch.no_grad():
                tensor.copy_(before)

    return restore
