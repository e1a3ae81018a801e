"""New code objects for functions that are already loaded.

A function keeps its identity and gets another code object. Instances, subclasses, decorators and
`from x import f` hold the function and therefore run the new code; no file changes. All functions
of an edited file get code from the new text, not only those that differ, so that every line number
in a traceback or a report is a line of the new text.
"""

from __future__ import annotations

import functools
import gc
import linecache
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from fullgraph.fix.model import FixError
from fullgraph.fix.source.edits import FileEdits, apply_edits
from fullgraph.fix.source.text import read_source, split_lines

Undo = Callable[[], None]
_ByName = dict[str, list[CodeType]]


class NotLoadedError(FixError):
    """The process has not imported the file (yet)."""


# The functions that `index_functions` has found, by the real path of their file.
_indexed: dict[str, list[FunctionType]] = {}


def index_functions() -> Undo:
    """Index the loaded functions by file, so that forks of this process need not look for them.

    All objects are excluded from garbage collection meanwhile: a collection in a fork would touch,
    and thereby copy, the memory of all of them. Returns the function that ends both. Until then,
    another call only adds the functions that were loaded meanwhile.
    """
    if _indexed:
        _index_unfrozen()
        return lambda: None
    # A program may have frozen its own objects, which hides them.
    was_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    _index_unfrozen()

    def forget() -> None:
        if not was_frozen:
            gc.unfreeze()
        _indexed.clear()

    return forget


def _index_unfrozen() -> None:
    by_name: dict[str, list[FunctionType]] = defaultdict(list)
    for function in _loaded_functions():
        by_name[function.__code__.co_filename].append(function)
    for name, functions in by_name.items():
        _indexed.setdefault(_real_path(name), []).extend(functions)
    gc.freeze()


def _loaded_functions() -> list[FunctionType]:
    # isinstance would run the __class__ of lazy modules and proxies.
    return [each for each in gc.get_objects() if type(each) is FunctionType]


def _functions_of(path: str) -> list[FunctionType]:
    """Return the loaded functions of a file: the indexed ones, and those loaded since then."""
    if not _indexed:
        gc.unfreeze()
    new = (each for each in _loaded_functions() if _real_path(each.__code__.co_filename) == path)
    return [*_indexed.get(path, ()), *new]


def patch_functions(files: Iterable[FileEdits]) -> Undo:
    """Give the loaded functions of some files their edited code; return the undo function."""
    undo: list[Undo] = []

    def restore() -> None:
        for each in reversed(undo):
            each()

    try:
        for file in files:
            undo.extend(_patch(file))
    except BaseException:
        restore()
        raise
    return restore


class PatchSwitch:
    """The edits of a file in its loaded functions; switching them does not make new code objects.

    Dynamo keeps compiled code by code object, so a function that is switched back and forth is not
    compiled again. The edits are switched on at first.
    """

    def __init__(self, file: FileEdits) -> None:
        functions = _functions_of(os.path.realpath(file.path))
        spaces = list({id(each.__globals__): each.__globals__ for each in functions}.values())
        codes = [each.__code__ for each in functions]
        names = [dict(each) for each in spaces]
        patch_functions([file])
        self._codes = [
            (function, code, function.__code__)
            for function, code in zip(functions, codes, strict=True)
            if code is not function.__code__
        ]
        self._names = [
            (space, name, before.get(name, _MISSING), space[name])
            for space, before in zip(spaces, names, strict=True)
            for name in space
            if before.get(name, _MISSING) is not space[name]
        ]

    def turn(self, on: bool) -> None:
        """Switch the edits on or off."""
        for function, original, edited in self._codes:
            function.__code__ = edited if on else original
        for space, name, original, edited in self._names:
            value = edited if on else original
            if value is _MISSING:
                space.pop(name, None)
            else:
                space[name] = value


_MISSING = object()


def codes_with_edits(file: FileEdits) -> list[tuple[FunctionType, CodeType]]:
    """Return the loaded functions that an edit concerns, each with its edited code; no changes."""
    path = os.path.realpath(file.path)
    functions = _functions_of(path)
    if not functions:
        raise NotLoadedError(f"no function of {file.path} is loaded")
    original = read_source(path)
    if original is None:
        raise FixError(f"cannot read {file.path}")
    edited = apply_edits(original, file.edits)
    old = _code_by_name(original, path)
    new = _code_by_name(edited, path)
    found = []
    for function in functions:
        code = _counterpart(function.__code__, old, new)
        if code is not None:
            found.append((function, _with_filename(code, function.__code__.co_filename)))
    return found


def _patch(file: FileEdits) -> Iterator[Undo]:
    for function, code in codes_with_edits(file):
        yield functools.partial(setattr, function, "__code__", function.__code__)
        function.__code__ = code
    path = os.path.realpath(file.path)
    functions = _functions_of(path)
    for namespace in {id(each.__globals__): each.__globals__ for each in functions}.values():
        yield from _run_additions(file.module_additions, namespace)
    edited = apply_edits(read_source(path) or "", file.edits)
    for name in {function.__code__.co_filename for function in functions}:
        yield show_lines(name, edited)


def copies_of_code(paths: Iterable[str]) -> list[tuple[FunctionType, CodeType]]:
    """Return the loaded functions of some files, each with a copy of its code.

    Dynamo keeps compiled code, limits and skipped frames by code object.
    """
    return [
        (function, _with_filename(function.__code__, function.__code__.co_filename))
        for path in dict.fromkeys(map(_real_path, paths))
        for function in _functions_of(path)
    ]


@functools.cache
def _real_path(file: str) -> str:
    return os.path.realpath(file)


def _code_by_name(text: str, path: str) -> _ByName:
    """Return each function's code by its qualified name; several if a name is defined again."""
    found: _ByName = defaultdict(list)
    waiting = [compile(text, path, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        found[code.co_qualname].append(code)
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    for codes in found.values():
        codes.sort(key=lambda code: (code.co_firstlineno, next(iter(code.co_positions()))[2] or 0))
    return found


def _counterpart(code: CodeType, old: _ByName, new: _ByName) -> CodeType | None:
    """Return the new code of a function; None if the function keeps its code."""
    before = old.get(code.co_qualname, [])
    after = new.get(code.co_qualname, [])
    # Functions of one name differ in their bytecode or first line.
    place = next((n for n, each in enumerate(before) if each.co_code == code.co_code
                  and each.co_firstlineno == code.co_firstlineno), None)  # fmt: skip
    if place is None or len(before) != len(after):
        return None
    found = after[place]
    if found.co_freevars != code.co_freevars:
        raise FixError(f"{code.co_qualname} would need another closure")
    return found


def _with_filename(code: CodeType, filename: str) -> CodeType:
    """Return code, and the code of functions inside it, under the name that a file is known by."""
    constants = tuple(
        _with_filename(each, filename) if isinstance(each, CodeType) else each
        for each in code.co_consts
    )
    return code.replace(co_filename=filename, co_consts=constants)


def _run_additions(statements: Iterable[str], namespace: dict[str, Any]) -> Iterator[Undo]:
    before = dict(namespace)
    for statement in statements:
        exec(statement, namespace)
    for name, value in list(namespace.items()):
        if name not in before:
            yield functools.partial(namespace.pop, name, None)
        elif before[name] is not value:
            yield functools.partial(namespace.__setitem__, name, before[name])


def show_lines(file: str, text: str) -> Undo:
    """Make tracebacks and excerpts show the lines that run; return the undo function."""
    before = linecache.cache.get(file)
    # Without a modification time, linecache does not compare the entry with the file.
    linecache.cache[file] = (len(text), None, split_lines(text), file)

    def restore() -> None:
        linecache.cache.pop(file, None)
        if before is not None:
            linecache.cache[file] = before

    return restore
