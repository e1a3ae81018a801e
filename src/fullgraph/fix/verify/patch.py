"""Read a unified diff, as `git diff` and `diff -u` write it, and apply it to the texts of files.

Nothing is written. Imports no torch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from fullgraph.fix.source.text import split_lines
from fullgraph.fix.verify.change import ChangeError, FileChange, first_changed_line
from fullgraph.python_source import read_source

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NO_FILE = "/dev/null"
_NO_END = "\\"
_SPECIAL = (
    ("GIT binary patch", "is a binary file"),
    ("Binary files ", "is a binary file"),
    ("rename from ", "is renamed"),
    ("copy from ", "is a copy"),
    ("new mode ", "gets other permissions"),
)


class _Hunk(Struct):
    line: int
    old: list[str]
    new: list[str]


class _FilePatch(Struct):
    old: str = ""
    new: str = ""
    special: str = ""
    hunks: list[_Hunk] = []


def read_patch(text: str) -> tuple[FileChange, ...]:
    """Return the changes of a diff; ChangeError if it is none, or does not apply."""
    patches = [each for each in _file_patches(text) if each.hunks or each.special]
    if not patches:
        raise ChangeError("the patch changes nothing; write it with `git diff` or `diff -u`")
    changes: dict[str, FileChange] = {}
    for patch in patches:
        change = _change(patch)
        if change.path in changes:
            raise ChangeError(f"the patch changes {patch.new or patch.old} twice; write it again")
        changes[change.path] = change
    return tuple(changes.values())


def _file_patches(text: str) -> Iterator[_FilePatch]:
    """Yield the parts of a diff, one per file."""
    lines = [line.removesuffix("\n").removesuffix("\r") for line in split_lines(text)]
    patch, index = _FilePatch(), 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line.startswith("diff --git "):
            yield patch
            patch = _FilePatch(new=_name_in_header(line))
        elif line.startswith("--- ") and following.startswith("+++ "):
            if patch.hunks:
                yield patch
                patch = _FilePatch()
            patch.old, patch.new = _name(line), _name(following)
            index += 1
        elif match := _HUNK.match(line):
            hunk, index = _hunk(match, lines, index + 1)
            patch.hunks.append(hunk)
            continue
        for start, special in _SPECIAL:
            if line.startswith(start):
                patch.special = patch.special or special
        index += 1
    yield patch


def _name(line: str) -> str:
    """Return the path in a line that starts with `---` or `+++`."""
    name = line[4:].partition("\t")[0].rstrip()
    if name.startswith('"') and name.endswith('"'):
        name = (
            name[1:-1].encode().decode("unicode_escape").encode("latin-1").decode(errors="replace")
        )
    return name


def _name_in_header(line: str) -> str:
    return line.rpartition(" b/")[2] and "b/" + line.rpartition(" b/")[2]


def _hunk(match: re.Match[str], lines: Sequence[str], index: int) -> tuple[_Hunk, int]:
    first, old, new = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    hunk = _Hunk(first, [], [])
    while index < len(lines) and (old > 0 or new > 0 or lines[index].startswith(_NO_END)):
        line = lines[index]
        # Some editors drop the space of an empty line.
        kind, rest = (line[0], line[1:]) if line else (" ", "")
        if kind not in (" ", "-", "+", _NO_END):
            break
        if kind == _NO_END:
            # The line before it has no end.
            for side in (hunk.old, hunk.new):
                if side and lines[index - 1][:1] in (
                    (" ", "-") if side is hunk.old else (" ", "+")
                ):
                    side[-1] = side[-1].removesuffix("\n")
        if kind in (" ", "-"):
            hunk.old.append(f"{rest}\n")
            old -= 1
        if kind in (" ", "+"):
            hunk.new.append(f"{rest}\n")
            new -= 1
        index += 1
    if old or new:
        raise ChangeError(
            f"the hunk at line {first} of the patch has fewer lines than it says; write it again"
        )
    return hunk, index


def _change(patch: _FilePatch) -> FileChange:
    is_added, is_deleted = patch.old == _NO_FILE, patch.new == _NO_FILE
    name = patch.old if is_deleted or not patch.new else patch.new
    path = _found(name, exists=not is_added)
    line = patch.hunks[0].line if patch.hunks else 1
    if patch.special:
        return FileChange(path, None, None, patch.special, line)
    if is_added:
        return FileChange(path, None, "".join(patch.hunks[0].new))
    before = read_source(path)
    if before is None:
        raise ChangeError(f"the patch changes {name}, which cannot be read; run in its folder")
    if is_deleted:
        return FileChange(path, before, None)
    after = _applied(before, patch.hunks, without_prefix(name))
    return FileChange(path, before, after, line=first_changed_line(before, after))


def without_prefix(name: str) -> str:
    """Return the path in a diff without the letter that git puts in front."""
    return name.partition("/")[2] if name.startswith(("a/", "b/", "i/", "w/")) else name


def _found(name: str, *, exists: bool) -> str:
    """Return the real path of a file of a diff; names count from here, or from the repository."""
    here = Path(os.path.realpath(os.curdir))
    repository = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
    for base in (here, repository):
        for each in (without_prefix(name), name):
            path = base / each
            if each and (path.is_file() or (not exists and path.parent.is_dir())):
                return os.path.realpath(path)
    raise ChangeError(f"the patch changes {name}, which does not exist; run in its folder")


def _applied(before: str, hunks: Sequence[_Hunk], name: str) -> str:
    lines = split_lines(before)
    result: list[str] = []
    position = moved = 0
    for hunk in hunks:
        # A hunk without old lines comes after the line that it names.
        wanted = hunk.line - (1 if hunk.old else 0) + moved
        start = _place(lines, hunk.old, wanted, position)
        if start is None:
            raise ChangeError(
                f"the patch does not apply to {name} at line {hunk.line}: the file has other lines "
                "there"
            )
        moved += start - wanted
        result += lines[position:start]
        result += hunk.new
        position = start + len(hunk.old)
    return "".join(result + lines[position:])


def _place(lines: list[str], old: list[str], wanted: int, least: int) -> int | None:
    """Return where lines are, at the wanted index or else nearest to it; None if nowhere."""
    if not old:
        return wanted if least <= wanted <= len(lines) else None
    places = [
        index
        for index in range(least, len(lines) - len(old) + 1)
        if lines[index : index + len(old)] == old
    ]
    return min(places, key=lambda index: abs(index - wanted), default=None)
