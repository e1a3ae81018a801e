"""Which measures a program takes: those of the command, and those that the user asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.capture.measures import MEASURE_VARIABLE, start_measures
from fullgraph.capture.process import capture_environment
from fullgraph.errors import CaptureError


def test_a_command_adds_its_measures_to_those_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(MEASURE_VARIABLE, "cost,calls")
    environment = capture_environment(tmp_path, ["calls", "results"])
    assert environment[MEASURE_VARIABLE] == "cost,calls,results"
    monkeypatch.delenv(MEASURE_VARIABLE)
    assert MEASURE_VARIABLE not in capture_environment(tmp_path)


@pytest.mark.parametrize("name", ["unknown", "..calls"])
def test_a_measure_that_does_not_exist_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(MEASURE_VARIABLE, name)
    with pytest.raises(CaptureError, match=f"no measure .*{MEASURE_VARIABLE}"):
        start_measures(lambda event: None)
