"""Edits: the only code that changes text.

An `Edit` replaces a range of a file's text. A fix is a list of edits of the original file, so that
the fixes of one file are independent of each other. A fixer, however, works on the text that the
accepted fixes have produced; `EditedText.rebase` turns its edits into edits of the original.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.fix.source.text import (
    Node,
    comment_lines,
    last_line,
    line_at,
    line_start,
    lines_inside_strings,
    source_line,
    span,
)

INDENT = "    "


class EditConflictError(FullgraphError):
    """Two edits change the same characters."""


class Edit(Struct, frozen=True):
    """Replaces the characters from `start` up to, but not including, `end`."""

    start: int
    end: int
    replacement: str


class FileEdits(Struct, frozen=True):
    """The edits that one fix makes in one file, as ranges of the original text."""

    path: str
    edits: tuple[Edit, ...]
    # Statements that a process that has loaded the file runs to get what the edits add at module
    # level: imports, helper functions, constants.
    module_additions: tuple[str, ...] = ()
    # Edits of earlier fixes that this fix changes further, and therefore takes the place of.
    replaces: tuple[Edit, ...] = ()


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits applied; edits that overlap are an error."""
    return EditedText(text, edits).text


def combine_edits(changes: Iterable[FileEdits]) -> tuple[Edit, ...]:
    """Return the edits of several fixes of one file together, in the order of the text.

    Inserted lines count once: two fixes may both need the same import. EditConflictError is
    raised for overlapping edits, and for a fix that builds on one that is not among `changes`.
    """
    combined: list[Edit] = []
    for change in changes:
        for earlier in change.replaces:
            if earlier not in combined:
                raise EditConflictError("a fix builds on another one that was dropped")
            combined.remove(earlier)
        combined += [e for e in change.edits if not (_inserts_lines(e) and e in combined)]
    return tuple(_in_order(combined))


def _inserts_lines(edit: Edit) -> bool:
    """Return whether an edit only adds whole lines."""
    return edit.start == edit.end and edit.replacement.endswith("\n")


def _in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Sort edits by position; of insertions at one position, imports and whole lines come first."""

    def is_import(edit: Edit) -> bool:
        return edit.replacement.lstrip().startswith(("import ", "from "))

    def position(edit: Edit) -> tuple[int, int, bool, bool]:
        return edit.start, edit.end, not is_import(edit), not _inserts_lines(edit)

    ordered = sorted(edits, key=position)
    for edit, following in pairwise(ordered):
        if following.start < edit.end:
            raise EditConflictError("two fixes change the same code")
    return ordered


class _Segment(NamedTuple):
    """A part of an edited text: the replacement of an edit, or original text (without an edit)."""

    start: int
    end: int
    original: int
    edit: Edit | None


class EditedText:
    """A text with edits applied, and where each part of it comes from."""

    def __init__(self, original: str, edits: Iterable[Edit]) -> None:
        self.original = original
        self._segments: list[_Segment] = []
        parts: list[str] = []
        position = length = 0

        def add(part: str, start: int, edit: Edit | None) -> None:
            nonlocal length
            parts.append(part)
            self._segments.append(_Segment(length, length + len(part), start, edit))
            length += len(part)

        for edit in _in_order(edits):
            add(original[position : edit.start], position, None)
            add(edit.replacement, edit.start, edit)
            position = edit.end
        add(original[position:], position, None)
        self.text = "".join(parts)

    def original_line(self, line: int) -> int:
        """Return the line of the original that a line of the edited text comes from.

        For a line that an edit has written, it is the line at which the edit starts.
        """
        offset = line_start(self.text, line)
        # A line that starts with inserted text may go on with the original.
        end = offset + len(source_line(self.text, line))
        inside = [each for each in self._segments if each.start <= end and each.end > offset]
        for segment in inside:
            if segment.edit is None:
                start = max(offset, segment.start)
                return line_at(self.original, segment.original + start - segment.start)
        return line_at(self.original, inside[0].original if inside else len(self.original))

    def lines_in(self, other: EditedText, first: int, last: int) -> int | None:
        """Return where the lines from `first` to `last` start in `other`; None if they changed.

        `other` is the same original with other edits.
        """
        mine = [source_line(self.text, line) for line in range(first, last + 1)]
        offset = line_start(self.text, first) + len(mine[0]) - len(mine[0].lstrip())
        segment = next((each for each in self._segments if each.start <= offset < each.end), None)
        found = None if segment is None else other._offset_of(segment, offset - segment.start)
        if found is None:
            return None
        line = line_at(other.text, found)
        theirs = [source_line(other.text, line + number) for number in range(len(mine))]
        return line if theirs == mine else None

    def _offset_of(self, segment: _Segment, inside: int) -> int | None:
        """Return where a character of a segment of another text of this original is."""
        if segment.edit is not None:
            same = (each for each in self._segments if each.edit == segment.edit)
            return next((each.start + inside for each in same), None)
        position = segment.original + inside
        for each in self._segments:
            if each.edit is None and 0 <= position - each.original < each.end - each.start:
                return each.start + position - each.original
        return None

    def is_written_by_edits(self, first: int, last: int) -> bool:
        """Return whether no part of the lines from `first` to `last` is original text."""
        start, end = line_start(self.text, first), line_start(self.text, last + 1)
        original = [each for each in self._segments if each.edit is None]
        return not any(self.text[max(start, e.start) : min(end, e.end)].strip() for e in original)

    def is_written_by(self, edits: Iterable[Edit], line: int) -> bool:
        """Return whether some of these edits have written a part of a line."""
        start, end = line_start(self.text, line), line_start(self.text, line + 1)
        written = set(edits)
        return any(
            bool(self.text[max(start, each.start) : min(end, each.end)].strip())
            for each in self._segments
            if each.edit in written
        )

    def rebase(self, edits: Iterable[Edit]) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
        """Turn edits of this text into edits of the original.

        Returns the edits, and the applied edits that they take the place of: where a new edit
        touches what an earlier one has written, both become one.
        """
        groups: list[tuple[list[Edit], list[_Segment]]] = []
        for edit in _in_order(edits):
            touched = [each for each in self._segments if each.edit and _touches(edit, each)]
            mine = [edit]
            for group in [group for group in groups if any(t in group[1] for t in touched)]:
                groups.remove(group)
                mine = [*group[0], *mine]
                touched = [*group[1], *(t for t in touched if t not in group[1])]
            groups.append((mine, touched))
        rebased = tuple(self._merged(mine, touched) for mine, touched in groups)
        replaced = tuple(each.edit for _, touched in groups for each in touched if each.edit)
        return rebased, replaced

    def _merged(self, edits: Sequence[Edit], touched: Sequence[_Segment]) -> Edit:
        if not touched and edits[0].start == edits[0].end:
            offset = self._original_start(edits[0].start, ())
            return Edit(offset, offset, edits[0].replacement)
        start = min([edit.start for edit in edits] + [each.start for each in touched])
        end = max([edit.end for edit in edits] + [each.end for each in touched])
        shifted = [Edit(e.start - start, e.end - start, e.replacement) for e in edits]
        return Edit(
            self._original_start(start, touched),
            self._original_end(end, touched),
            apply_edits(self.text[start:end], shifted),
        )

    def _original_start(self, offset: int, touched: Sequence[_Segment]) -> int:
        for each in touched:
            if each.start == offset and each.edit:
                return each.edit.start
        # The last segment that reaches here: an edit that ends here is not touched.
        segment = [each for each in self._segments if each.start <= offset][-1]
        return segment.original + (offset - segment.start if segment.edit is None else 0)

    def _original_end(self, offset: int, touched: Sequence[_Segment]) -> int:
        for each in touched:
            if each.end == offset and each.edit:
                return each.edit.end
        segment = next(each for each in self._segments if each.end >= offset)
        if segment.edit is not None:
            return segment.edit.start
        return segment.original + offset - segment.start


def _touches(edit: Edit, segment: _Segment) -> bool:
    """Return whether an edit changes what an earlier edit has written.

    An insertion also touches one that it is next to: the order of the two matters.
    """
    if edit.start == edit.end:
        is_insertion = segment.edit is not None and segment.edit.start == segment.edit.end
        if is_insertion:
            return segment.start <= edit.start <= segment.end
        return segment.start < edit.start < segment.end
    if segment.start == segment.end:
        return edit.start < segment.start < edit.end
    return edit.start < segment.end and segment.start < edit.end


def edited_lines(text: str, edits: Iterable[Edit]) -> list[int]:
    """Return the lines of the original that edits remove or change; not lines they only add."""
    found: set[int] = set()
    for edit in edits:
        if not _inserts_lines(edit):
            last = max(edit.start, edit.end - (text[: edit.end].endswith("\n")))
            found.update(range(line_at(text, edit.start), line_at(text, last) + 1))
    return sorted(found)


def inverse_edits(text: str, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits that make the original of the edited text."""
    found, moved = [], 0
    for edit in _in_order(edits):
        start = edit.start + moved
        found.append(Edit(start, start + len(edit.replacement), text[edit.start : edit.end]))
        moved += len(edit.replacement) - (edit.end - edit.start)
    return tuple(found)


# The edits that fixers make.


def replace_node(text: str, node: Node, replacement: str) -> Edit:
    """Replace the text of one node."""
    return Edit(*span(text, node), replacement)


def replace_nodes(text: str, changes: Iterable[tuple[Node, str]]) -> tuple[Edit, ...]:
    """Replace the text of several nodes, which do not overlap."""
    return tuple(replace_node(text, node, replacement) for node, replacement in changes)


def apply_edits_to_file(raw: str, edits: Iterable[Edit]) -> str:
    """Apply edits to the text of a file that may have `\\r\\n` as the end of some lines or of all.

    The edits are of the text in which every line ends with `\\n`. Lines that they do not touch keep
    their ends; new lines get the end that most lines have.
    """
    pairs = [match.start() for match in re.finditer("\r\n", raw)]
    # Where the ends of these lines are if each of them has one character.
    ends = [position - number for number, position in enumerate(pairs)]
    new_end = "\r\n" if 2 * len(pairs) > raw.count("\n") else "\n"

    def moved(offset: int) -> int:
        return offset + bisect_left(ends, offset)

    return apply_edits(
        raw,
        [
            Edit(moved(edit.start), moved(edit.end), edit.replacement.replace("\n", new_end))
            for edit in edits
        ],
    )


def replace_lines(text: str, first: int, last: int, lines: Sequence[str]) -> Edit:
    """Replace the lines from `first` to `last` with others, which are given without their ends."""
    start, end = line_start(text, first), line_start(text, last + 1)
    has_end = text[start:end].endswith("\n")
    replacement = "\n".join(lines) + ("\n" if has_end else "")
    return Edit(start, end, replacement if lines else "")


def insert_lines(text: str, line: int, lines: Sequence[str]) -> Edit:
    """Insert lines, which are given without their ends, in front of a line."""
    start = line_start(text, line)
    # The last line of a file may have no end.
    lead = "\n" if start and text[start - 1] != "\n" else ""
    return Edit(start, start, lead + "".join(f"{each}\n" for each in lines))


def delete_statement(text: str, statement: ast.stmt) -> Edit:
    """Delete the lines of a statement; its comments stay, on lines of their own."""
    first, last = statement.lineno, last_line(statement)
    return replace_lines(text, first, last, comment_lines(text, first, last))


def indent_under(text: str, statements: Sequence[ast.stmt], header: str) -> tuple[Edit, ...]:
    """Indent neighboring statements, and insert a header line above them."""
    first, last = statements[0].lineno, last_line(statements[-1])
    line = source_line(text, first)
    indent = line[: len(line) - len(line.lstrip())]
    inside_strings = lines_inside_strings(text)
    starts = [
        line_start(text, number)
        for number in range(first, last + 1)
        if number not in inside_strings and source_line(text, number).strip()
    ]
    head = Edit(starts[0], starts[0], f"{indent}{header}\n")
    return head, *(Edit(start, start, INDENT) for start in starts)
