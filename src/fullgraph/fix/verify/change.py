"""A change of some files: the texts before and after, and the edits that lead to the latter.

Imports no torch.
"""

from __future__ import annotations

import difflib
import inspect
from collections import Counter
from collections.abc import Iterator
from types import CodeType

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.fix.apply.outside_functions import differ_outside_functions
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.source.text import line_at, line_start, parse, split_lines


class ChangeError(FullgraphError):
    """The change cannot be read, or does not apply."""


class FileChange(Struct, frozen=True):
    """The text of one file before and after a change."""

    # The real path.
    path: str
    # None for a file that the change adds, and for one that it deletes.
    before: str | None
    after: str | None
    # What is changed besides or instead of the text, in words; empty for text alone.
    special: str = ""
    # The first line that the change concerns.
    line: int = 1

    @property
    def edits(self) -> FileEdits:
        """The change as edits of whole lines."""
        return FileEdits(self.path, line_edits(self.before or "", self.after or ""))


def line_edits(before: str, after: str) -> tuple[Edit, ...]:
    """Return edits that replace, insert and delete whole lines."""
    old, new = split_lines(before), split_lines(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return tuple(
        Edit(line_start(before, first + 1), line_start(before, last + 1), "".join(new[low:high]))
        for kind, first, last, low, high in matcher.get_opcodes()
        if kind != "equal"
    )


def new_lines(before: str, after: str) -> list[int]:
    """Return the lines of the new text that are not in the old one."""
    matcher = difflib.SequenceMatcher(None, split_lines(before), split_lines(after), autojunk=False)
    return [
        line
        for kind, _, _, low, high in matcher.get_opcodes()
        if kind != "equal"
        for line in range(low + 1, high + 1)
    ]


def first_changed_line(before: str, after: str) -> int:
    """Return the first line of the new text that differs, or where the old one has more."""
    edits = line_edits(before, after)
    return line_at(before, edits[0].start) if edits else 1


def lines_with_code(text: str) -> set[int]:
    """Return the lines of functions that can run; `else:` and comments cannot.

    Other lines run when a file is imported.
    """
    functions = (each for each in _codes(text) if each.co_flags & inspect.CO_OPTIMIZED)
    return {line for code in functions for _, _, line in code.co_lines() if line}


def runs_before_calls(change: FileChange) -> bool:
    """Return whether a change concerns more than bodies of functions that are loaded already.

    It does if anything differs outside of functions, and if a function gets another closure: its
    code cannot be replaced in a program that has run.
    """
    before, after = change.before or "", change.after or ""
    if differ_outside_functions(before, after):
        return True
    old, new = _closures(before), _closures(after)
    return any(new[name] != closures for name, closures in old.items() if name in new)


def _closures(text: str) -> dict[str, Counter[tuple[str, ...]]]:
    """Return the free variables of each function, by its name; several for several of one name."""
    found: dict[str, Counter[tuple[str, ...]]] = {}
    for code in _codes(text):
        # Functions within functions are made again when the outer one runs.
        if "<locals>" not in code.co_qualname:
            found.setdefault(code.co_qualname, Counter())[code.co_freevars] += 1
    return found


def _codes(text: str) -> Iterator[CodeType]:
    if parse(text) is None:
        return
    waiting = [compile(text, "<text>", "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
