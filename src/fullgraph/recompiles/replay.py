"""Runs the program again with remedies in place, in forks of a process that is started once."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from msgspec import Struct, json
from msgspec.structs import replace

from fullgraph.errors import FullgraphError
from fullgraph.fix.source.edits import FileEdits, apply_edits, combine_edits
from fullgraph.fix.source.text import read_source
from fullgraph.model.results import RESULTS_SUFFIX
from fullgraph.model.session import Session, load_all
from fullgraph.recompiles.candidate import Candidate, ConfigValue
from fullgraph.recompiles.messages import OUTCOME_FILE, ReplayOutcome, ReplayRequest

# How long importing torch may take.
_START_SECONDS = 120.0
_STOP_SECONDS = 5.0
# What the first compile imports. Nothing here starts threads or processes.
_IMPORTED = ("torch._dynamo.precompile_context", "sympy.tensor.tensor")
_JOINED_ENTRIES = ("_sources", "_values")


class ReplayError(FullgraphError):
    """The program cannot be run again, or two remedies cannot be in place together."""


class Replay(Struct, frozen=True):
    """One run of the program: how it ended, and what was captured."""

    outcome: ReplayOutcome
    sessions: tuple[Session, ...]
    # The results that the run wrote; None if it compared its results with those of another run.
    results: Path | None = None


class Replayer:
    """Runs one program again and again."""

    def __init__(self, target: Sequence[str]) -> None:
        self._target = tuple(target)
        self._folder = TemporaryDirectory(prefix="fullgraph-")
        self._count = 0
        self._is_ready = False
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Replayer:
        if not hasattr(os, "fork"):
            return self
        self._process = subprocess.Popen(
            # With -P, files in the working directory do not hide modules.
            [sys.executable, "-P", "-m", "fullgraph.recompiles.zygote", *_IMPORTED],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            # It stops the program that it is replaying.
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def run(
        self,
        candidates: Sequence[Candidate],
        *,
        seconds: float,
        seed: int | None = None,
        fixed: bool = False,
        reference: Path | None = None,
        max_compiles: int | None = None,
    ) -> Replay:
        """Run the program with all of some remedies.

        It runs twice if one of them needs a profile; only the second run counts.
        EditConflictError or ReplayError is raised if they do not go together.
        """
        needs_profile = any(each.needs_profile for each in candidates)
        folder = self._new_folder()
        request = ReplayRequest(
            target=self._target,
            folder=str(folder),
            seconds=seconds,
            texts=edited_texts([each for candidate in candidates for each in candidate.files]),
            config=_combined_config(candidates),
            seed=seed,
            fixed=fixed,
            reference=str(reference or ""),
            max_compiles=max_compiles,
            warmed_up=tuple(each.warmed_up for each in candidates if each.warmed_up),
            profile=str(self._new_folder()) if needs_profile else "",
        )
        if needs_profile:
            first = self._new_folder()
            # It compiles as often as without a profile.
            self._send(replace(request, folder=str(first), max_compiles=None))
            profiled = _read(first)
            if profiled.outcome.status != "done":
                return profiled
        self._send(request)
        return _read(folder)

    def _new_folder(self) -> Path:
        self._count += 1
        folder = Path(self._folder.name) / str(self._count)
        folder.mkdir()
        return folder

    def _send(self, request: ReplayRequest) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ReplayError("this system cannot fork processes")
        if not self._is_ready:
            _await_line(process.stdout.fileno(), _START_SECONDS)
            self._is_ready = True
        try:
            process.stdin.write(json.encode(request) + b"\n")
            process.stdin.flush()
        except OSError:
            raise ReplayError("the process that replays the program has ended") from None
        _await_line(process.stdout.fileno(), request.seconds + _START_SECONDS)


def edited_texts(edits: Sequence[FileEdits]) -> dict[str, str]:
    """Return the edited text of each file, by its real path."""
    by_path: dict[str, list[FileEdits]] = {}
    for each in dict.fromkeys(edits):
        by_path.setdefault(os.path.realpath(each.path), []).append(each)
    texts = {}
    for path, changes in by_path.items():
        original = read_source(path)
        if original is None:
            raise ReplayError(f"cannot read {path}")
        texts[path] = apply_edits(original, combine_edits(changes))
    return texts


def _combined_config(candidates: Sequence[Candidate]) -> dict[str, ConfigValue]:
    combined: dict[str, ConfigValue] = {}
    for candidate in candidates:
        for name, value in candidate.config.items():
            mine = combined.setdefault(name, value)
            if mine == value:
                continue
            if not name.endswith(_JOINED_ENTRIES):
                raise ReplayError(f"two remedies set {name}")
            parts = [*str(mine).split(","), *str(value).split(",")]
            combined[name] = ",".join(dict.fromkeys(parts))
    return combined


def _await_line(pipe: int, seconds: float) -> None:
    """Wait for the next line of the process."""
    deadline = time.monotonic() + seconds
    while True:
        readable, _, _ = select.select([pipe], [], [], max(deadline - time.monotonic(), 0))
        if not readable:
            raise ReplayError("the process that replays the program does not answer")
        received = os.read(pipe, 1)
        if not received:
            raise ReplayError("the process that replays the program has ended")
        if received == b"\n":
            return


def _read(folder: Path) -> Replay:
    try:
        outcome = json.decode((folder / OUTCOME_FILE).read_bytes(), type=ReplayOutcome)
    except FileNotFoundError:
        outcome = ReplayOutcome("failed", "the program ended early")
    has_session = any(folder.glob("*.jsonl"))
    results = folder / f"reference{RESULTS_SUFFIX}"
    return Replay(
        outcome,
        tuple(load_all((str(folder),))) if has_session else (),
        results if results.exists() else None,
    )
