"""What a question is about: from `FILE:LINE` to the breaks of a session on that line."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from fullgraph.ai.errors import SetupError
from fullgraph.model.report import BreakSite, Report
from fullgraph.model.session import Header, Session

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?")
_SHOWN_LINES = 8


class Place(Struct, frozen=True):
    """A line of a file, as the user writes it and as an absolute path."""

    text: str
    path: str
    line: int


class Capture(Struct, frozen=True):
    """A session that was read: its report, and its process that ran the program."""

    report: Report
    header: Header
    folder: str


def place_in(text: str) -> Place | None:
    """Return the place that a text names; None if it is no `FILE:LINE`."""
    found = _PLACE.fullmatch(text.strip())
    if found is None or "\n" in text:
        return None
    file = found["file"]
    if not os.path.isfile(file) and not file.endswith((".py", ".ipynb")):
        return None
    return Place(f"{file}:{int(found['line'])}", os.path.abspath(file), int(found["line"]))


def read_capture(place: Place, session: str | None) -> Capture:
    """Read a session: the one named, or the newest of this folder's program."""
    from fullgraph.analysis import analyze
    from fullgraph.model.session import load_all

    folder = session or _newest_here(place)
    sessions = load_all((folder,))
    return Capture(analyze(sessions), _program(sessions), folder)


def _program(sessions: list[Session]) -> Header:
    headers = [each.header for each in sessions]
    return next((each for each in headers if each.role == "program"), headers[0])


def _newest_here(place: Place) -> str:
    """Return the newest session whose program ran in this folder, or in that of the file."""
    from fullgraph.capture.store import kept_sessions

    here = {os.path.realpath(os.getcwd()), os.path.realpath(os.path.dirname(place.path))}
    for folder in kept_sessions():
        if any(os.path.realpath(each.directory) in here for each in _headers(folder)):
            return str(folder)
    raise SetupError(
        f"no session of a program in this folder is kept; capture one with: {_run_command(place)}"
    )


def _headers(folder: Path) -> Iterable[Header]:
    """Yield the headers of a session's processes; unreadable files have none."""
    import msgspec

    for file in sorted(folder.glob("*.jsonl")):
        try:
            with file.open("rb") as opened:
                yield msgspec.json.decode(opened.readline(), type=Header)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue


def _run_command(place: Place) -> str:
    file = place.text.rpartition(":")[0]
    return shlex.join(["fullgraph", "run", file if os.path.isfile(file) else "SCRIPT"])


def breaks_at(place: Place, capture: Capture) -> list[BreakSite]:
    """Return the breaks on a line, root causes first; SetupError names the lines that have any."""
    report = capture.report
    causes = {cause.key for cause in report.causes}
    sites = [*report.causes, *(each for each in report.sites if each.key not in causes)]
    found = [site for site in sites if _is_at(site, place)]
    if found:
        return found
    again = shlex.join(["fullgraph", "run", *_arguments(capture.header)])
    lines = sorted({line for site in sites for file, line in _lines_of(site) if _same(file, place)})
    if not os.path.isfile(place.path) and not lines:
        raise SetupError(f"there is no file {place.text.rpartition(':')[0]}; name one as FILE:LINE")
    if not lines:
        raise SetupError(
            f"the session has no break in {place.text.rpartition(':')[0]}; see fullgraph "
            f"report, or capture the program again with: {again}"
        )
    shown = ", ".join(map(str, lines[:_SHOWN_LINES])) + (" …" if lines[_SHOWN_LINES:] else "")
    raise SetupError(
        f"the session has no break at {place.text}; breaks of that file are at lines {shown}; if "
        f"the file was changed, capture it again with: {again}"
    )


def _arguments(header: Header) -> list[str]:
    """Return the program and its arguments, without the interpreter."""
    command = list(header.command)
    if command and re.fullmatch(r"(?:.*[/\\])?python[\d.]*(?:\.exe)?", command[0]):
        command = command[1:]
    return command or ["SCRIPT"]


def _is_at(site: BreakSite, place: Place) -> bool:
    last = max(site.end_line or site.line, site.line)
    if _same(site.file, place) and site.line <= place.line <= last:
        return True
    return any(line == place.line and _same(file, place) for file, line in _lines_of(site))


def _lines_of(site: BreakSite) -> list[tuple[str, int]]:
    """Return the lines by which a reader may know a break: its own, and those that lead to it."""
    frames = [each for each in (site.shown, site.via, *site.also_from) if each is not None]
    return [(site.file, site.line), *((frame.file, frame.line) for frame in frames)]


def _same(file: str, place: Place) -> bool:
    return os.path.realpath(file) == os.path.realpath(place.path)
