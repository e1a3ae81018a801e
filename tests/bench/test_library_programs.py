"""The programs with libraries are complete and pinned, and a wrong report is noticed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from bench import library_programs

_FOLDER = library_programs.FOLDER


def test_there_are_twenty_programs_that_compile_something() -> None:
    programs = sorted(_FOLDER.glob("*.py"))
    assert len(programs) == 20
    assert all("torch.compile(" in program.read_text() for program in programs)


def test_every_library_is_pinned_and_torch_is_not_among_them() -> None:
    lines = (_FOLDER / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", pin) for pin in pins)
    assert not any(pin.startswith("torch==") for pin in pins)


def _report(**changes: Any) -> dict[str, Any]:
    site = {"file": "model.py", "line": 7, "occurrences": 3, "raised": 1}
    return {"problems": [], "disagreements": [], "sites": [site], **changes}


def test_breaks_that_are_raised_are_not_in_the_log_of_torch() -> None:
    logged = Counter({("model.py", 7): 2})
    assert not list(library_programs.report_errors(_report(), logged))


@pytest.mark.parametrize("logged", [{("model.py", 7): 3}, {("model.py", 7): 2, ("x.py", 1): 1}])
def test_another_number_of_breaks_than_in_the_log_is_wrong(logged: dict[Any, int]) -> None:
    assert len(list(library_programs.report_errors(_report(), Counter(logged)))) == 1


def test_an_unexplained_difference_is_wrong() -> None:
    explained = {"what": "graphs", "ours": 2, "theirs": 1, "why": "known", "unexplained": 0}
    difference = {"what": "breaks", "ours": 2, "theirs": 1, "why": "unknown", "unexplained": 1}
    problems = [{"message": "a hook failed"}]
    report = _report(disagreements=[explained, difference], problems=problems)
    found = list(library_programs.report_errors(report, Counter({("model.py", 7): 2})))
    assert len(found) == 2
    assert "a hook failed" in found[0]
    assert "unknown" in found[1]
