"""A session: a header and the events of one process, as JSON lines that survive a crash.

Every line is complete and is written with one system call, so a killed process loses at most the
line that it was writing. Reasons and stacks repeat often: each is written once, as a line of its
own, and later lines refer to it by number.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeVar, get_args

import msgspec
from msgspec import Struct, json

from fullgraph.errors import SessionError
from fullgraph.files import replace_file, unreadable
from fullgraph.model.events import (
    FORMAT_VERSION,
    Backward,
    Break,
    Call,
    Code,
    Compile,
    Cost,
    End,
    Event,
    Graph,
    Guards,
    Problem,
    Reason,
    Recompile,
    Resumption,
    Settings,
    Sizes,
    Skip,
    Stack,
    Stance,
    Write,
)

SUFFIX = ".jsonl"


class Header(Struct, frozen=True, tag="header", tag_field="event", omit_defaults=True):
    """The process that a session comes from."""

    format: int
    fullgraph: str
    # A runner captures nothing: `fullgraph run` itself, which knows the command, and a file with
    # the child processes that could not be captured.
    role: Literal["program", "runner"] = "program"
    torch: str = ""
    python: str = ""
    platform: str = ""
    command: tuple[str, ...] = ()
    directory: str = ""
    process: int = 0
    rank: int | None = None
    started: float = 0.0
    # These folders decide who owns a file; see model/owners.py.
    torch_folder: str = ""
    stdlib_folders: tuple[str, ...] = ()
    package_folders: tuple[str, ...] = ()


class Session(Struct, frozen=True):
    """The events of one process. `warnings` lists what could not be read back."""

    header: Header
    events: tuple[Event, ...]
    warnings: tuple[str, ...] = ()
    path: str = ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to `path`; an existing file is replaced when everything is written."""
        encoder = LineEncoder()
        lines = (encoder.event(event) for event in self.events)
        replace_file(path, itertools.chain([encoder.header(self.header)], lines))


# The lines of a file that hold a reason or a stack, and a break that refers to them.
class _ReasonLine(Struct, frozen=True, tag="reason", tag_field="event"):
    key: int
    reason: Reason


class _StackLine(Struct, frozen=True, tag="stack", tag_field="event"):
    key: int
    stack: Stack


class _BreakLine(Struct, frozen=True, tag="break", tag_field="event", omit_defaults=True):
    compile: str
    root: Code
    reasons: tuple[int, ...]
    stack: int
    outcome: Resumption = "resumed"
    attempt: int = 0
    error: str = ""
    logged_by: str = ""
    carried: tuple[str, ...] = ()


_Line = (
    Header
    | _ReasonLine
    | _StackLine
    | _BreakLine
    | Compile
    | Skip
    | Graph
    | Recompile
    | Guards
    | Sizes
    | Call
    | Write
    | Cost
    | Backward
    | Settings
    | Stance
    | Problem
    | End
)
_T = TypeVar("_T", Reason, Stack)
# The fields of a break that its line has as they are; it refers to its reasons and its stack.
_COPIED_FIELDS = tuple(name for name in Break.__struct_fields__ if name not in ("reasons", "stack"))


class LineEncoder:
    """Turns events into lines; each reason and stack is written once."""

    def __init__(self) -> None:
        self._encoder = json.Encoder()
        self._reasons: dict[Reason, int] = {}
        self._stacks: dict[Stack, int] = {}

    def header(self, header: Header) -> bytes:
        """Return the first line of a session file."""
        return self._encode(header) + b"\n"

    def event(self, event: Event) -> bytes:
        """Return the line of an event, after the lines of its reasons and its stack."""
        if not isinstance(event, Break):
            return self._encode(event) + b"\n"
        lines: list[bytes] = []
        reasons = tuple(self._key(self._reasons, r, _ReasonLine, lines) for r in event.reasons)
        stack = self._key(self._stacks, event.stack, _StackLine, lines)
        facts = {name: getattr(event, name) for name in _COPIED_FIELDS}
        lines.append(self._encode(_BreakLine(reasons=reasons, stack=stack, **facts)))
        return b"\n".join(lines) + b"\n"

    def _encode(self, value: Struct) -> bytes:
        try:
            return self._encoder.encode(value)
        except UnicodeEncodeError:
            # A file name or an argument that is not UTF-8 is written with escapes.
            return self._encoder.encode(_escaped(msgspec.to_builtins(value)))

    def _key(
        self, known: dict[_T, int], value: _T, line: Callable[[int, _T], Struct], out: list[bytes]
    ) -> int:
        if value not in known:
            known[value] = len(known)
            out.append(self._encode(line(known[value], value)))
        return known[value]


def _escaped(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_escaped(key): _escaped(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(inner) for inner in value]
    return value


def load(path: str | os.PathLike[str]) -> Session:
    """Read a session file.

    An incomplete last line and unknown events are skipped and listed in `warnings`. Any other
    damage raises a `SessionError` that names the line.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise SessionError(unreadable(file, error)) from None
    if not data.strip():
        raise SessionError(f"{file} is empty; name a session that fullgraph run wrote")
    return _Reader(file, data).read()


def is_session(path: str) -> bool:
    """Return whether a command is given a session, a file or a folder of them, or a program."""
    is_program = os.path.exists(os.path.join(path, "__main__.py"))
    return path.endswith(SUFFIX) or (os.path.isdir(path) and not is_program)


def load_all(paths: tuple[str, ...]) -> list[Session]:
    """Read the sessions in `paths`: files, or folders of session files."""
    return [
        session
        for path in paths
        for session in (_load_folder(Path(path)) if os.path.isdir(path) else [load(path)])
    ]


def _load_folder(folder: Path) -> list[Session]:
    """Read a folder; a process that was killed before it wrote its header is only a warning."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    if not files:
        raise SessionError(f"{folder} has no session; there is no *{SUFFIX} file in it")
    sessions: list[Session] = []
    problems: list[str] = []
    for file in files:
        if b"\n" in _first_bytes(file):
            sessions.append(load(file))
        else:
            problems.append(f"{file} has no header; its process was killed at the start")
    if not sessions:
        raise SessionError(problems[0])
    first = sessions[0]
    warnings = (*first.warnings, *problems)
    return [msgspec.structs.replace(first, warnings=warnings), *sessions[1:]]


def _first_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.readline()
    except OSError as error:
        raise SessionError(unreadable(file, error)) from None


class _Reader:
    def __init__(self, file: Path, data: bytes) -> None:
        self._file = file
        self._complete = data.endswith(b"\n")
        self._lines = data.split(b"\n")
        if not self._lines[-1]:
            self._lines.pop()
        self._decode = json.Decoder(_Line).decode
        self._reasons: dict[int, Reason] = {}
        self._stacks: dict[int, Stack] = {}
        self._warnings: list[str] = []
        self._unknown: dict[str, int] = {}

    def read(self) -> Session:
        """Return the session in the file."""
        header = self._header(self._lines[0])
        events = tuple(self._events())
        for name, count in sorted(self._unknown.items()):
            self._warnings.append(
                f"{self._file}: {count} unknown {name!r} {_plural(count, 'event')} skipped; "
                "upgrade with pip install -U fullgraph"
            )
        return Session(header, events, tuple(self._warnings), str(self._file))

    def _header(self, line: bytes) -> Header:
        try:
            facts = json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            facts = None
        if not isinstance(facts, dict) or facts.get("event") != "header":
            raise SessionError(
                f"{self._file} is not a fullgraph session: line 1 is not a header; name a "
                "file that fullgraph run wrote"
            )
        version = facts.get("format")
        if not isinstance(version, int) or version < 1:
            raise SessionError(f"{self._file}, line 1: the header has no valid format")
        if version > FORMAT_VERSION:
            raise SessionError(
                f"{self._file} was written by a newer fullgraph (format {version}; this one reads "
                f"up to {FORMAT_VERSION}); upgrade with pip install -U fullgraph"
            )
        try:
            return msgspec.convert(facts, Header)
        except msgspec.ValidationError as error:
            raise SessionError(f"{self._file}, line 1: {error}") from None

    def _events(self) -> Iterator[Event]:
        last = len(self._lines)
        for number, line in enumerate(self._lines[1:], start=2):
            try:
                event = self._event(self._decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
                if number == last and not self._complete:
                    self._warnings.append(
                        f"{self._file}: the last line is incomplete because the process was "
                        "killed; all lines before it were read"
                    )
                    return
                if self._is_unknown_event(line):
                    continue
                raise SessionError(
                    f"{self._file}, line {number}: damaged ({_explain(error)})"
                ) from None
            if event is not None:
                yield event

    def _event(self, line: _Line) -> Event | None:
        if isinstance(line, _BreakLine):
            return Break(
                reasons=tuple(self._reasons[key] for key in line.reasons),
                stack=self._stacks[line.stack],
                **{name: getattr(line, name) for name in _COPIED_FIELDS},
            )
        if isinstance(line, _ReasonLine):
            self._reasons[line.key] = line.reason
            return None
        if isinstance(line, _StackLine):
            self._stacks[line.key] = line.stack
            return None
        if isinstance(line, Header):
            raise msgspec.ValidationError("a second header")
        return line

    def _is_unknown_event(self, line: bytes) -> bool:
        try:
            facts = json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        name = facts.get("event") if isinstance(facts, dict) else None
        if not isinstance(name, str) or name in _KNOWN_EVENTS:
            return False
        self._unknown[name] = self._unknown.get(name, 0) + 1
        return True


_KNOWN_EVENTS = frozenset(str(line.__struct_config__.tag) for line in get_args(_Line))


def _explain(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it refers to entry {error.args[0]}, which no earlier line has"
    return str(error)


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
