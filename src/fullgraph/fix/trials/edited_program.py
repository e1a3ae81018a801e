"""A process that runs the program from other text than that of its files, and then serves trials.

    python -m fullgraph.fix.trials.edited_program REQUESTS REPLIES FOLDER SCRIPT|-m MODULE [ARG]...

FOLDER has an `EditedProgram`. Where that says so, everything that runs the program is confined: it
can write to FOLDER only. This process then only waits, and ends whatever the program has started.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn

from msgspec import Struct, json

from fullgraph.fix.confinement import Confinement, confine
from fullgraph.fix.confinement.process import close_files
from fullgraph.fix.confinement.system_calls import process_control
from fullgraph.fix.model import FixError, ProgramRecorded
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.python_source import replace_sources

_EDITED_FILE = "edited-program.json"
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_TICK = 0.05
# How long the process that ends the others may take for it.
_END_SECONDS = 20.0


class EditedProgram(Struct, frozen=True):
    """The texts to run in place of those of files, by their real paths."""

    texts: dict[str, str]
    confinement: Confinement | None = None
    # Lines of these texts to watch while the program runs; see `exercise.ran_before`.
    lines: dict[str, tuple[int, ...]] = {}
    # The calls to record, counted from 1; empty: as the program needs.
    calls: tuple[int, ...] = ()


class EditedProgramRunner(ProgramTrialRunner):
    """Runs the program from other text, and then its trials."""

    server = "fullgraph.fix.trials.edited_program"

    def __init__(
        self,
        target: Sequence[str],
        edited: EditedProgram,
        *,
        deadline: float,
        environment: dict[str, str] | None = None,
    ) -> None:
        super().__init__(target, deadline=deadline, environment=environment)
        self._edited = edited

    def _run_program(self) -> ProgramRecorded:
        (self.folder / _EDITED_FILE).write_bytes(json.encode(self._edited))
        return super()._run_program()

    def _read_line(self, deadline: float = float("inf")) -> bytes:
        confinement = self._edited.confinement
        if confinement is None:
            return super()._read_line(deadline)
        limit = time.monotonic() + confinement.seconds
        try:
            return super()._read_line(min(deadline, limit))
        except FixError:
            raise FixError(f"it takes more than {confinement.seconds:.0f} s") from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None and self._edited.confinement is not None:
            self._process.terminate()
            with suppress(Exception):
                self._process.wait(_END_SECONDS)
        super().__exit__(kind, error, traceback)


def main(arguments: list[str]) -> None:
    """Serve trials of the program, in a confined child where that is wanted."""
    requests, replies, folder, *target = arguments
    edited = json.decode((Path(folder) / _EDITED_FILE).read_bytes(), type=EditedProgram)
    if edited.confinement is not None:
        _in_child(edited.confinement, Path(folder), int(requests), int(replies))
    replace_sources(edited.texts)
    from fullgraph.fix.runtime.edited_sources import import_edited, script_text
    from fullgraph.fix.trials import server
    from fullgraph.fix.trials.exercise import watched

    _seed()
    import_edited(edited.texts)
    record = watched(server.record_program, edited.lines)  # type: ignore[attr-defined]
    server.record_program = record  # type: ignore[attr-defined]
    wanted = frozenset(edited.calls) or None
    server.main(arguments, script_text(edited.texts, target[0]), wanted)


def _seed() -> None:
    """Start like other runs of the program: without a seed, these start differently each time."""
    random.seed(0)
    with suppress(ImportError):
        import numpy

        numpy.random.seed(0)


def _in_child(confinement: Confinement, folder: Path, requests: int, replies: int) -> None:
    """Return in a confined child; this process waits for it and ends."""
    process_control(_SET_CHILD_SUBREAPER, 1)
    process_control(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    child = os.fork()
    if child:
        os.close(requests)
        os.close(replies)
        _supervise(child)
    # The output of the program is a file in its folder.
    close_files(requests, replies, 1, 2)
    confine(confinement, folder)
    process_control(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _supervise(child: int) -> NoReturn:
    from fullgraph.fix.trials.confined_run import end_descendants

    def end(_number: int, _frame: FrameType | None) -> None:
        end_descendants()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        with suppress(ChildProcessError):
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if ended == child:
                break
        time.sleep(_TICK)
    end_descendants()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
