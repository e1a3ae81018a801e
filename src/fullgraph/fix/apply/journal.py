"""Writes several files, all or none, also if the process is killed in the middle.

A *journal* in the undo folder has the old and the new text of each file. It is written before the
first of them changes, and it is *pending* until all of them have been written and compared with the
new text. From then on, it is what `--undo` needs. `recover` restores the old text of the files of
pending journals; undoing makes a journal pending again and does the same.

A file is replaced by renaming a complete copy, so it always has either its old or its new text.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, json

from fullgraph.files import replace_file
from fullgraph.fix.model import FixError
from fullgraph.fix.report.diff import display_path
from fullgraph.folders import undo_folder

DONE = ".json"
PENDING = ".pending"
# Another process writes for milliseconds, unless it was stopped.
_LONGEST_WAIT = 10.0
_TICK = 0.02


class Change(Struct, frozen=True):
    """A file before and after `--apply`."""

    path: str
    before: str
    after: str
    encoding: str = "utf-8"

    def encoded(self, text: str) -> bytes:
        """Return a text of this file as bytes; a byte order mark is part of some encodings."""
        return text.encode(self.encoding)


class Journal(Struct, frozen=True):
    """The files that one `--apply` writes."""

    changes: tuple[Change, ...]
    # Whether undoing writes over files that were changed after they had been written.
    overwrites: bool = False


class Recovery(NamedTuple):
    """What an interrupted `--apply` or `--undo` had left behind."""

    # The files that have their old text again.
    restored: tuple[str, ...] = ()
    # Why files were left as they are, one sentence per journal.
    problems: tuple[str, ...] = ()


class _Replacement(NamedTuple):
    path: str
    # What the file may contain before; None: anything, or nothing.
    expected: bytes | None
    new: bytes


def write_files(changes: Iterable[Change]) -> None:
    """Write all files or none, and keep what `--undo` needs.

    FixError is raised, and nothing is written, if a file does not have the text that its change was
    made for.
    """
    journal = Journal(tuple(changes))
    _make_undo_folder()
    with _locked():
        _recover_all()
        _require_settled(journal)
        replacements = [
            _Replacement(each.path, each.encoded(each.before), each.encoded(each.after))
            for each in journal.changes
        ]
        for each in replacements:
            _require_content(each.path, each.expected)
        pending = undo_folder() / f"{time.time_ns():020d}{PENDING}"
        _save(pending, journal)
        written: list[str] = []
        try:
            _replace_all(replacements, written)
        except BaseException:
            # A file that another program has changed meanwhile is not among these.
            mine = tuple(each for each in journal.changes if each.path in written)
            roll_back(pending, Journal(mine))
            raise
        pending.rename(pending.with_suffix(DONE))


def recover() -> Recovery:
    """Restore the old text of all files that an interrupted `--apply` or `--undo` was writing.

    Files that were changed since then are left alone, and so are the others of their journal.
    """
    if not pending_journals() and not _unfinished_journals():
        return Recovery()
    try:
        with _locked():
            return _recover_all()
    except FixError as error:
        return Recovery((), (str(error),))


def start_undo(done: Path, journal: Journal, *, force: bool) -> None:
    """Restore the old text of the files of a journal, and remove the journal."""
    with _locked():
        if not done.exists():
            raise FixError("another process has reverted this --apply")
        if journal.overwrites != force:
            journal = msgspec.structs.replace(journal, overwrites=force)
            _save(done, journal)
        pending = done.with_suffix(PENDING)
        done.rename(pending)
        try:
            roll_back(pending, journal)
        except BaseException:
            # Another `--undo` can then be tried.
            with suppress(OSError):
                pending.rename(done)
            raise


def roll_back(pending: Path, journal: Journal) -> tuple[str, ...]:
    """Restore the old texts and remove the journal; return the paths of restored files.

    FixError is raised, and nothing is written, if a file has neither its old nor its new text.
    """
    if not journal.overwrites:
        _require_known(journal)
    replacements = [
        _Replacement(change.path, present, change.encoded(change.before))
        for change in journal.changes
        if (present := _content(change.path)) != change.encoded(change.before)
        and (present is not None or journal.overwrites)
    ]
    _replace_all(replacements, [])
    for change in journal.changes:
        _temporary(change.path).unlink(missing_ok=True)
    pending.unlink()
    return tuple(display_path(each.path) for each in replacements)


def read_journal(file: Path) -> Journal:
    """Return a journal of the undo folder."""
    try:
        return json.decode(file.read_bytes(), type=Journal)
    except (OSError, msgspec.MsgspecError) as error:
        raise FixError(f"cannot read {file}: {error}; delete it to go on without it") from None


def pending_journals() -> list[Path]:
    """Return the journals of interrupted processes, the newest first."""
    return sorted(undo_folder().glob(f"*{PENDING}"), reverse=True)


def _unfinished_journals() -> list[Path]:
    """Return what processes have left that were killed while they saved a journal."""
    return list(undo_folder().glob(".*.tmp"))


def _recover_all() -> Recovery:
    restored: list[str] = []
    problems: list[str] = []
    for file in pending_journals():
        try:
            journal = read_journal(file)
            # A folder that was removed took its files with it.
            if not any(os.path.isdir(os.path.dirname(each.path)) for each in journal.changes):
                file.unlink()
                continue
            restored += roll_back(file, journal)
        except FixError as error:
            problems.append(str(error))
    for file in _unfinished_journals():
        file.unlink(missing_ok=True)
    return Recovery(tuple(restored), tuple(problems))


def _require_settled(journal: Journal) -> None:
    """Check that no file belongs to an interrupted journal that could not be taken back."""
    paths = {change.path for change in journal.changes}
    for file in pending_journals():
        other = read_journal(file)
        if paths & {change.path for change in other.changes}:
            _require_known(other)


def _replace_all(replacements: Sequence[_Replacement], written: list[str]) -> None:
    """Replace files by complete copies, and compare each with what was to be written.

    The paths of replaced files are added to `written`.
    """
    try:
        for each in replacements:
            with _naming(each.path):
                _write_copy(each)
        for each in replacements:
            with _naming(each.path):
                _require_content(each.path, each.expected)
                written.append(each.path)
                os.replace(_temporary(each.path), each.path)
        for each in replacements:
            _require_content(each.path, each.new)
    finally:
        for each in replacements:
            with suppress(OSError):
                _temporary(each.path).unlink(missing_ok=True)


def _write_copy(replacement: _Replacement) -> None:
    """Write the new text to a file beside the old one, with its permissions and attributes."""
    temporary = _temporary(replacement.path)
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(replacement.new)
        file.flush()
        os.fsync(descriptor)
    try:
        status = os.stat(replacement.path)
    except FileNotFoundError:
        temporary.chmod(0o644)
        return
    with suppress(PermissionError):
        os.chown(temporary, status.st_uid, status.st_gid)
    shutil.copystat(replacement.path, temporary)
    # Python compares the time of a file with that of its cached bytecode.
    os.utime(temporary)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Turn an error of the operating system in a block into one line about a file."""
    try:
        yield
    except OSError as error:
        raise FixError(
            f"cannot write {display_path(path)}: {error.strerror}, so nothing was written; check "
            "the permissions of the file and of its folder"
        ) from None


def _require_content(path: str, expected: bytes | None) -> None:
    if expected is not None and _content(path) != expected:
        raise FixError(
            f"{display_path(path)} was changed by another program meanwhile, so nothing was "
            "written; run fullgraph fix again"
        )


def _require_known(journal: Journal) -> None:
    """Check that each file has its old or its new text, or is gone."""
    for change in journal.changes:
        known = (None, change.encoded(change.before), change.encoded(change.after))
        if _content(change.path) not in known:
            name = display_path(change.path)
            raise FixError(
                f"an interrupted --apply was not taken back, because {name} was changed since; "
                f"fullgraph fix --undo --force {name} restores its old text anyway"
            )


def _content(path: str) -> bytes | None:
    """Return the bytes of a file; None if there is none."""
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _temporary(path: str) -> Path:
    """Return the name of the copy beside a file; a journal and this name find what was left."""
    return Path(path).with_name(f".{os.path.basename(path)}.fullgraph")


def _save(file: Path, journal: Journal) -> None:
    """Write a journal; it is on the disk before the first file changes."""
    replace_file(file, [json.encode(journal)])
    for path in (file, file.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _make_undo_folder() -> None:
    folder = undo_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FixError(
            f"cannot keep what --undo needs in {folder} ({error.strerror}); set FULLGRAPH_HOME"
        ) from None


@contextmanager
def _locked() -> Iterator[None]:
    """Exclude other processes that write, for a block; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        file = (undo_folder() / "lock").open("ab")
    except OSError as error:
        raise FixError(
            f"cannot write to {undo_folder()} ({error.strerror}), which has what --undo needs"
        ) from None
    with file:
        deadline = time.monotonic() + _LONGEST_WAIT
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise FixError(
                        "another fullgraph fix is writing files; wait for it to end, and try again"
                    ) from None
                time.sleep(_TICK)
            except OSError:
                # Some network file systems have no locks.
                break
        yield
