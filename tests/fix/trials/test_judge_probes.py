"""What the judge makes of the outcomes of probes, without running any."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.fix.model import FixPlan, TrialRequest
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.trials.judge import judge
from fullgraph.fix.trials.probe_files import ProbeNote, ProbesFile
from fullgraph.fix.trials.runner import Part, outcome_file
from fullgraph.outcomes.files import save_outcomes
from fullgraph.outcomes.observe import CallOutcome
from fullgraph.outcomes.text_form import as_plain

REQUEST = TrialRequest("probe", FixPlan(files={"a.py": FileEdits("a.py", ())}))
SIDE = (0, True)


def assumptions(folder: Path, notes: list[ProbeNote], wrong: set[str]) -> set[str]:
    """Return what is assumed if the fixed program is wrong for some probes in eager mode."""
    part = Part(str(folder), 1)
    save_outcomes({}, outcome_file(part, "original"))
    right, other = CallOutcome(outputs={"": "1"}), CallOutcome(outputs={"": "2"})
    ProbesFile(
        notes=tuple(notes),
        excluding=((SIDE, "`x > 0` is false (line 4)"),),
        original={each.name: as_plain(right) for each in notes},
        fixed={each.name: as_plain(other if each.name in wrong else right) for each in notes},
    ).write(part)
    return {each.assumption for each in judge(part, REQUEST).failed_probes}


def test_a_side_is_to_blame_if_most_calls_that_run_it_fail(tmp_path: Path) -> None:
    notes = [ProbeNote(f"input {n}", f"no input {n}", sides=(SIDE,)) for n in range(3)]
    found = assumptions(tmp_path, notes, {"input 0", "input 1"})
    assert found == {"`x > 0` is false (line 4)"}
    assert assumptions(tmp_path, notes, {"input 0"}) == {"no input 0"}


def test_calls_of_a_helper_do_not_acquit_a_side(tmp_path: Path) -> None:
    notes = [ProbeNote(f"input {n}", f"no input {n}", sides=(SIDE,)) for n in range(2)]
    notes += [
        ProbeNote(f"scaled: {n}", f"in `scaled`, {n}", helper="scaled", sides=(SIDE,))
        for n in range(6)
    ]
    found = assumptions(tmp_path, notes, {"input 0", "input 1"})
    assert found == {"`x > 0` is false (line 4)"}


@pytest.mark.parametrize(
    ("failing", "expected"),
    [({"a", "b", "a and b"}, {"no a", "no b"}), ({"a and b"}, {"no a, or no b"})],
)
def test_a_pair_counts_only_if_neither_of_its_parts_fails(
    tmp_path: Path, failing: set[str], expected: set[str]
) -> None:
    notes = [
        ProbeNote("a", "no a"),
        ProbeNote("b", "no b"),
        ProbeNote("a and b", "no a, or no b", combines=("a", "b")),
    ]
    assert assumptions(tmp_path, notes, failing) == expected


def test_a_pair_with_gradients_is_explained_by_the_probe_with_gradients(tmp_path: Path) -> None:
    notes = [
        ProbeNote("a", "no a"),
        ProbeNote("a, with gradients", "no a", base="a"),
        ProbeNote("a and `x` requires gradients", "…", combines=("a", "`x` requires gradients")),
    ]
    failing = {"a, with gradients", "a and `x` requires gradients"}
    assert assumptions(tmp_path, notes, failing) == {"no a where gradients matter"}


def test_outcomes_that_are_missing_are_an_error(tmp_path: Path) -> None:
    part = Part(str(tmp_path), 1)
    save_outcomes({}, outcome_file(part, "original"))
    ProbesFile(notes=(ProbeNote("a", "no a"),)).write(part)
    with pytest.raises(KeyError):
        judge(part, REQUEST)
