"""The lines that a run in eager mode shows, where the source does not tell them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from fullgraph.analysis.state import AnalysisState
from fullgraph.analysis.user_lines import UserLines, user_lines
from fullgraph.analysis.user_lines.observed import GroupMember
from fullgraph.capture.measures import MEASURE_VARIABLE
from fullgraph.model.events import Recompile, Write
from fullgraph.model.session import Session, load_all
from fullgraph.recompiles.writes import add_writes, find_writes
from tests.conftest import PROGRAMS
from tests.warm_cli import WarmCli, start_process

PROGRAM = PROGRAMS / "writes.py"


def line_of(comment: str) -> int:
    """Return the line of the program with a comment."""
    lines = PROGRAM.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


def lines_of(sessions: Sequence[Session], source: str) -> UserLines:
    """Return the lines of the recompiles for which a value of the program changed."""
    state = AnalysisState(sessions)
    members = [
        GroupMember(process, event, change)
        for process, event in state.events(Recompile)
        for change in (event.failures[0].changes if event.failures else ())
        if change.source == source
    ]
    assert members, source
    return user_lines(state, members[:1])


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    folder = tmp_path_factory.mktemp("captured")
    cli = WarmCli(folder)
    cli.environment[MEASURE_VARIABLE] = "calls"
    ran = cli("run", "--session", "session", str(PROGRAM))
    assert ran.returncode == 0, ran.stderr
    return load_all((str(folder / "session"),))


@pytest.fixture(scope="module")
def observed(
    captured: list[Session], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Session, ...]:
    folder = tmp_path_factory.mktemp("observed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", start_process)
        return find_writes([str(PROGRAM)], captured, folder, seconds=300)


@pytest.mark.parametrize(
    ("source", "comment"),
    [
        ("L['self'].window", "window"),
        ("L['self'].calls", "calls"),
        ("G['options'].level", "level"),
        ("G['SCALE']", "SCALE"),
        ("G['HISTORY']", "HISTORY"),
        ("G['neighbour'].SHIFT", "SHIFT"),
        ("L['count']", "count"),
    ],
)
def test_the_line_that_last_wrote_a_value(
    observed: tuple[Session, ...], source: str, comment: str
) -> None:
    written_at = lines_of(observed, source).written_at
    assert written_at is not None
    assert (written_at.file, written_at.line) == (str(PROGRAM), line_of(comment))


def test_the_branch_that_bound_an_argument(observed: tuple[Session, ...]) -> None:
    bound_at = lines_of(observed, "L['x']").bound_at
    assert bound_at is not None
    assert bound_at.line == line_of("batch")


def test_the_source_alone_tells_only_what_is_certain(captured: list[Session]) -> None:
    assert lines_of(captured, "L['x']").bound_at is None
    assert lines_of(captured, "G['options'].level").written_at is None
    # Only one statement assigns the new value.
    counted = lines_of(captured, "L['self'].calls").written_at
    assert counted is not None
    assert counted.line == line_of("calls")


def test_a_file_that_was_changed_since_is_not_read(captured: list[Session]) -> None:
    old = [
        msgspec.structs.replace(each, header=msgspec.structs.replace(each.header, started=1.0))
        for each in captured
    ]
    assert lines_of(old, "L['self'].calls").written_at is None
    assert lines_of(old, "L['self'].calls").called_at is not None


def test_a_run_that_went_another_way_is_not_believed(observed: tuple[Session, ...]) -> None:
    changed = [
        msgspec.structs.replace(
            session,
            events=tuple(
                msgspec.structs.replace(event, caller=None) if isinstance(event, Write) else event
                for event in session.events
            ),
        )
        for session in observed
    ]
    assert lines_of(changed, "G['options'].level").written_at is None


def test_sessions_without_another_run_stay_as_they_are(
    captured: list[Session], tmp_path: Path
) -> None:
    assert add_writes(captured, tmp_path) == tuple(captured)
