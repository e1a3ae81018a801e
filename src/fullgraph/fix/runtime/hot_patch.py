"""Puts new source into functions that exist already, and takes it out again.

A function object keeps its identity and gets another code object. So instances, subclasses,
decorators, `from x import f` and everything else that holds the function run the new code, and no
file is touched. All functions of a patched file get code from the new text, not only the ones that
differ: then every line number in a traceback or a report is a line of the new text.
"""

from __future__ import annotations

import functools
import gc
import linecache
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from fullgraph.fix.model import FilePatch, MendError
from fullgraph.fix.source.text import lines_of

Undo = Callable[[], None]
_ByName = dict[str, list[CodeType]]


class NotLoadedError(MendError):
    """A file that nothing has imported, yet."""


def apply_patches(patches: Iterable[FilePatch]) -> Undo:
    """Patch all functions of this process; returns what undoes it."""
    undo: list[Undo] = []

    def restore() -> None:
        for each in reversed(undo):
            each()

    try:
        for patch in patches:
            undo.extend(_apply(patch))
    except BaseException:
        restore()
        raise
    return restore


def _apply(patch: FilePatch) -> Iterator[Undo]:
    path = os.path.realpath(patch.path)
    functions = [each for each in gc.get_objects() if _is_of(each, path)]
    if not functions:
        raise NotLoadedError(f"no function of {patch.path} is loaded")
    old = _code_by_name(Path(path).read_text(encoding="utf-8"), path)
    new = _code_by_name(patch.text, path)
    for function in functions:
        code = _counterpart(function.__code__, old, new)
        if code is not None:
            yield functools.partial(setattr, function, "__code__", function.__code__)
            function.__code__ = code.replace(co_filename=function.__code__.co_filename)
    for namespace in {id(each.__globals__): each.__globals__ for each in functions}.values():
        yield from _run_prelude(patch.prelude, namespace)
    for name in {function.__code__.co_filename for function in functions}:
        yield _show_lines(name, patch.text)


def _is_of(thing: Any, path: str) -> bool:
    # isinstance would run the __class__ of lazy modules and proxies.
    return type(thing) is FunctionType and _real_path(thing.__code__.co_filename) == path


@functools.cache
def _real_path(file: str) -> str:
    return os.path.realpath(file)


def _code_by_name(text: str, path: str) -> _ByName:
    """Every function's code by its qualified name; several, where a name is defined again."""
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
    """The new code of a function; None where it stays as it is."""
    before = old.get(code.co_qualname, [])
    after = new.get(code.co_qualname, [])
    # Equal code objects have equal lines and positions, and there is no other way to tell twins.
    place = next((n for n, each in enumerate(before) if each.co_code == code.co_code
                  and each.co_firstlineno == code.co_firstlineno), None)  # fmt: skip
    if place is None or len(before) != len(after):
        return None
    found = after[place]
    if found.co_freevars != code.co_freevars:
        raise MendError(f"{code.co_qualname} would need another closure than it has")
    return found


def _run_prelude(statements: Iterable[str], namespace: dict[str, Any]) -> Iterator[Undo]:
    before = dict(namespace)
    for statement in statements:
        exec(statement, namespace)
    for name, value in list(namespace.items()):
        if name not in before:
            yield functools.partial(namespace.pop, name, None)
        elif before[name] is not value:
            yield functools.partial(namespace.__setitem__, name, before[name])


def _show_lines(file: str, text: str) -> Undo:
    """Tracebacks and excerpts show the lines that run."""
    before = linecache.cache.get(file)
    # Without a modification time the entry is not thrown away for differing from the file.
    linecache.cache[file] = (len(text), None, lines_of(text), file)

    def restore() -> None:
        linecache.cache.pop(file, None)
        if before is not None:
            linecache.cache[file] = before

    return restore
