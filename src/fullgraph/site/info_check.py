"""Check contributed information as strictly as a pull request should be checked.

A build shows as much of a damaged file as possible. This check names everything that is not shown
as it was meant: text outside of the markers, links that lead nowhere, files that are not read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from fullgraph.fix.declarations import declarations
from fullgraph.guide.lesson import all_lessons
from fullgraph.registry.taxonomy import CATEGORIES
from fullgraph.site.info import InfoFile, entries_of, info_files, read_info
from fullgraph.site.markdown import is_allowed_link, targets_of
from fullgraph.site.model import fixer_path, lesson_path

# Explains the folder to its readers, and is not shown on the site.
_README = "README.md"
_PAGE = re.compile(r"(?:\./|\.\./gb/)?(gb\d{4,})\.(?:md|html)", re.IGNORECASE)


class CheckedInfo(Struct, frozen=True):
    """The result of a check."""

    problems: tuple[str, ...]
    # Information that is not a problem.
    notes: tuple[str, ...]
    files: int


def check_info(folder: Path, known: Collection[str]) -> CheckedInfo:
    """Check a folder of additional information; `known` are the ids that any release has."""
    added = read_info(folder, known)
    files = list(info_files(folder))
    ids = {*known, *(file.id for file in files)}
    problems = [*added.problems, *_foreign(folder)]
    for file in files:
        problems += [f"{file.name} ({problem})" for problem in _file_problems(file, ids)]
    notes = [
        f"{info.file} is about a break that no known release has; it gets a page of its own"
        for info in added.orphans
    ]
    return CheckedInfo(tuple(dict.fromkeys(problems)), tuple(notes), len(files))


def _foreign(folder: Path) -> Iterator[str]:
    """Yield the entries of the folder that are not files of information."""
    for path in entries_of(folder):
        if path.is_symlink():
            yield f"{path.name} (it is a symbolic link, which is not followed; add the file itself)"
        elif path.is_dir():
            yield f"{path.name} (it is a folder; the files are beside {_README})"
        elif not re.match(r"gb", path.name, re.IGNORECASE) and path.name != _README:
            yield f"{path.name} (it is not named like gb0124.md)"


def _file_problems(file: InfoFile, ids: Collection[str]) -> Iterator[str]:
    section = file.section
    if section.problem:
        return  # It is among the problems already.
    before, _, after = file.data.decode().partition(section.whole)
    for text, place in ((before, "before the start marker"), (after, "after the end marker")):
        if text.strip("\ufeff \t\r\n"):
            yield f"it has text {place}, which is not shown; move it between the markers"
    if not section.text.strip():
        yield "it has no text between the markers; write some or delete the file"
    for target in dict.fromkeys(targets_of(section.text)):
        if problem := _link_problem(target, ids):
            yield f"the link {target} {problem}"


def _link_problem(target: str, ids: Collection[str]) -> str:
    if not is_allowed_link(target):
        return "is not shown; use http, https, mailto or a page of this site"
    parts = urlsplit(target)
    if parts.scheme in ("http", "https"):
        return "" if parts.hostname and "." in parts.hostname else "names no host"
    if parts.scheme:
        return ""
    path = unquote(parts.path)
    page = _PAGE.fullmatch(path)
    if page is not None:
        return "" if page[1].upper() in ids else "leads to a break that no release has"
    return "" if path in _other_pages() else "leads nowhere; use a page such as gb0124.md"


def _other_pages() -> set[str]:
    """Return the paths of the pages that are not about a break, from a page that is."""
    return {
        *(f"../categories/{category.name}.html" for category in CATEGORIES),
        *(f"../{fixer_path(fixer.name)}" for fixer in declarations()),
        *(f"../{lesson_path(lesson.id)}" for lesson in all_lessons()),
        *("../index.html", "../dashboard.html", "../guide/index.html", "../fixes/index.html"),
    }
