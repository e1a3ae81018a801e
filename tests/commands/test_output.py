"""What reaches a terminal, a pipe and a file."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from fullgraph.analysis import analyze
from fullgraph.commands._output import deliver
from fullgraph.commands._progress import progress_line
from fullgraph.errors import FullgraphError
from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    Frame,
    GuardFailure,
    Reason,
    Recompile,
    SourceLine,
    Stack,
)
from fullgraph.model.report import Report
from fullgraph.model.session import Header, Session

SOURCE = f"value = f({', '.join(f'argument_{number}' for number in range(30))})"
GUARDS = tuple(f"x{number}: size(0) 2, now 3" for number in range(20))


def long_report(file: str = "/home/model.py") -> Report:
    code = Code(file, 1, "forward")
    stack = Stack((Frame(file, 7, "forward"),), 1, (SourceLine(7, SOURCE),))
    events = (
        Break("0/0", code, (Reason("Unsupported", explanation="word " * 100 + "end"),), stack),
        Recompile("0/1", code, (GuardFailure("0/0", GUARDS),)),
    )
    return analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), events)])


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def assert_complete(text: str) -> None:
    assert "…" not in text
    assert SOURCE in text
    assert "word end" in " ".join(text.split())
    assert all(guard in text for guard in GUARDS)


def test_a_pipe_and_a_file_lose_nothing(tmp_path: Path) -> None:
    pipe = io.StringIO()
    deliver("report", long_report(), "text", stream=pipe)
    assert_complete(pipe.getvalue())
    deliver("report", long_report(), "text", output=str(tmp_path / "report.txt"))
    assert_complete((tmp_path / "report.txt").read_text("utf-8"))


def test_a_terminal_gets_lines_that_fit_and_every_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = FakeTerminal()
    deliver("report", long_report(), "text", stream=terminal)
    assert max(map(len, terminal.getvalue().splitlines())) <= 60
    assert all(guard in terminal.getvalue() for guard in GUARDS)


@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_file_name_that_is_not_unicode_can_be_written(tmp_path: Path, format_: str) -> None:
    output = tmp_path / "report"
    deliver("report", long_report("/home/caf\udce9.py"), format_, output=str(output))
    assert "/home/caf\N{REPLACEMENT CHARACTER}.py" in output.read_text("utf-8")


@pytest.mark.parametrize("error", [None, FullgraphError("it fails")])
def test_the_line_of_progress_is_gone_when_the_next_message_comes(
    monkeypatch: pytest.MonkeyPatch, error: FullgraphError | None
) -> None:
    terminal = FakeTerminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with suppress(FullgraphError), progress_line() as progress:
        progress("running the program")
        if error is not None:
            raise error
    assert "running the program" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
