"""Run the program once in eager mode to see which lines write what its recompiles are about."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from msgspec import json
from msgspec.structs import replace

from fullgraph.analysis.state import AnalysisState
from fullgraph.analysis.user_lines import list_watches
from fullgraph.capture.measures.writes import WATCH_VARIABLE
from fullgraph.capture.process import capture_environment, python_command
from fullgraph.errors import FullgraphError
from fullgraph.model.events import Write
from fullgraph.model.session import Session, load_all

_WATCH_FILE = "watch.json"
# How soon the run is stopped.
_STEP_SECONDS = 0.2


def find_writes(
    target: Sequence[str],
    sessions: Sequence[Session],
    folder: Path,
    seconds: float,
    stop: Event | None = None,
) -> tuple[Session, ...]:
    """Return the sessions with the lines that a run of the program in eager mode showed.

    The program runs without input, its output is discarded, and it is stopped after `seconds` or
    when `stop` is set.
    Without calls in the sessions, or if there is nothing that only execution shows, it is not run.
    `folder` must be empty; the sessions of the run are written there.
    """
    environment = writes_environment(sessions, folder)
    if environment is None:
        return tuple(sessions)
    process = subprocess.Popen(
        python_command(target),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if not _has_ended(process, seconds, stop or Event()):
        # Only the program itself: its lines up to here are known.
        process.kill()
        process.wait()
    return add_writes(sessions, folder)


def _has_ended(process: subprocess.Popen[bytes], seconds: float, stop: Event) -> bool:
    """Wait until a process ends, its time is over, or `stop` is set; return whether it ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not stop.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(_STEP_SECONDS, max(deadline - time.monotonic(), 0)))
            return True
    return False


def writes_environment(sessions: Sequence[Session], folder: Path) -> dict[str, str] | None:
    """Return the environment of the run in eager mode; None if there is nothing to watch."""
    state = AnalysisState(sessions)
    watches = list_watches(state)
    if not watches:
        return None
    watch_file = folder / _WATCH_FILE
    watch_file.write_bytes(json.encode(watches))
    environment = capture_environment(folder, ["writes"])
    return environment | {WATCH_VARIABLE: str(watch_file.resolve())}


def add_writes(sessions: Sequence[Session], folder: Path) -> tuple[Session, ...]:
    """Return the sessions with the `Write` events of the processes of another run."""
    seen: Sequence[Session] = ()
    with contextlib.suppress(FullgraphError):
        seen = load_all((str(folder),))
    programs = [each for each in seen if each.header.role == "program"]
    mine = [number for number, each in enumerate(sessions) if each.header.role == "program"]
    if len(programs) != len(mine):
        # It is not clear which process is which.
        return tuple(sessions)
    found = list(sessions)
    for number, program in zip(mine, programs, strict=True):
        writes = tuple(event for event in program.events if isinstance(event, Write))
        found[number] = replace(found[number], events=(*found[number].events, *writes))
    return tuple(found)
