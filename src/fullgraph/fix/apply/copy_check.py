"""Checks a copy in a new process before anything is written: does the changed program still run?

Trials change functions of a program that has run. What a fix changes outside of functions, such as
imports, constants and settings, has not run like that. So the program is run again from the changed
text, as far as its recorded calls. If something outside of functions changes, the original text is
run in the same way, and the inputs and results of the calls have to be equal bit for bit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import json

from fullgraph.fix.apply.journal import Change
from fullgraph.fix.apply.outside_functions import differ_outside_functions
from fullgraph.fix.model import FixError, ProgramRecorded, Settings
from fullgraph.fix.report.diff import display_path
from fullgraph.fix.trials.copy_messages import REQUEST_FILE, RESULT_FILE, CopyRequest, CopyResult

# A copy may take longer than the recorded run, on a machine that is busy with something else.
_LEAST_SECONDS = 120.0
_TIMES_AS_LONG = 5

ANNOUNCEMENT = (
    "checking the changed program in a new process: it runs again as far as its recorded calls, "
    "with its side effects"
)


def check_syntax(changes: Sequence[Change]) -> None:
    """Check that Python accepts the bytes that will be written."""
    for change in changes:
        try:
            compile(change.encoded(change.after), change.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise FixError(
                f"the fixes make {display_path(change.path)} invalid ({error}), so nothing was "
                "written; please report it"
            ) from None


def check_copy(
    target: Sequence[str],
    changes: Sequence[Change],
    settings: Settings,
    recorded: ProgramRecorded,
) -> None:
    """Run the program from the changed text; FixError if it does not do what the original does."""
    run = _Copy(target, changes, recorded)
    changed = run(lambda change: change.after, settings)
    if changed.error:
        where = f" ({changed.details})" if changed.details else ""
        raise FixError(
            f"the changed program fails in a new process: {changed.error}{where}; nothing was "
            "written"
        )
    if not any(differ_outside_functions(each.before, each.after) for each in changes):
        return
    original = run(lambda change: change.before, {})
    difference = _first_difference(original, changed)
    # The calls of a program without seeds differ in each run.
    if difference and not _first_difference(original, run(lambda change: change.before, {})):
        raise FixError(
            f"the changed program differs in a new process: {difference}; nothing was written"
        )


def _first_difference(original: CopyResult, changed: CopyResult) -> str:
    """Return how the calls of two runs differ; empty if they do not."""
    if original.error:
        return ""
    if len(original.calls) != len(changed.calls):
        return f"{len(changed.calls)} calls instead of {len(original.calls)}"
    for number, (one, other) in enumerate(zip(original.calls, changed.calls, strict=True), 1):
        if one != other:
            return f"call {number}, of {other.split(' ')[0]}, has other inputs or another result"
    return ""


class _Copy:
    """Runs the program from one text of its files after the other."""

    def __init__(
        self, target: Sequence[str], changes: Sequence[Change], recorded: ProgramRecorded
    ) -> None:
        self._target = list(target)
        self._changes = changes
        self._functions = tuple(dict.fromkeys(recorded.calls))
        self._seconds = max(_LEAST_SECONDS, _TIMES_AS_LONG * recorded.seconds)

    def __call__(self, text_of: Callable[[Change], str], settings: Settings) -> CopyResult:
        texts = {each.path: text_of(each) for each in self._changes}
        request = CopyRequest(texts, self._functions, settings)
        with tempfile.TemporaryDirectory(prefix="fullgraph-copy-") as name:
            folder = Path(name)
            (folder / REQUEST_FILE).write_bytes(json.encode(request))
            process = start_process(folder, self._target)
            try:
                process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                return CopyResult(
                    f"it did not reach its recorded calls in {self._seconds:.0f} s", "", ()
                )
            finally:
                _end(process)
            try:
                return json.decode((folder / RESULT_FILE).read_bytes(), type=CopyResult)
            except FileNotFoundError:
                return CopyResult(f"it ended early, with exit code {process.returncode}", "", ())


def start_process(folder: Path, target: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the process that runs a copy; what the program prints is not shown."""
    return subprocess.Popen(
        [sys.executable, "-m", "fullgraph.fix.trials.copied_program", str(folder), *target],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # What the program starts ends with it.
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a copy, and the processes that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, 9)
    process.wait()
