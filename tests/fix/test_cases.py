"""Every case of every fixer: the exact fix, or who refuses it and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.fixers._cases import Case, examples_of, parse_cases
from tests.fix.case_files import cases_of, files_of, markdown_of
from tests.fix.run_case import fix_diff, refusal_of, search


def cases(*, fixed: bool) -> list[object]:
    return [
        pytest.param(fixer, case, id=f"{fixer.name}: {case.name}")
        for fixer in all_fixers()
        for case in cases_of(fixer.name)
        if fixed is not bool(case.refused_by)
    ]


@pytest.mark.parametrize(("fixer", "case"), cases(fixed=True))
def test_a_break_is_fixed(fixer: Fixer, case: Case, tmp_path: Path) -> None:
    result = search(case.program, tmp_path, fixer)
    assert fix_diff(result) == case.diff
    for each in (result.final, result.other_backends["aot_eager"]):
        assert each.report is not None
        # What a mitigation is for stays; all others remove the break.
        assert fixer.kind == "mitigate" or not each.report.causes
        assert not each.differences


@pytest.mark.parametrize(("fixer", "case"), cases(fixed=False))
def test_a_program_is_refused(fixer: Fixer, case: Case, tmp_path: Path) -> None:
    assert refusal_of(case, tmp_path, fixer) == (case.refused_by, case.reason)


@pytest.mark.parametrize("fixer", all_fixers(), ids=lambda fixer: fixer.name)
def test_a_fixer_has_a_page_and_an_example(fixer: Fixer) -> None:
    headings = ("What it does:", "Why it breaks:", "Safety:", "Not applied when:")
    assert all(f"\n\n{each}" in fixer.about for each in headings)
    assert any(example.diff for example in examples_of(fixer.name))


def test_every_file_of_cases_belongs_to_a_fixer() -> None:
    known = {path for fixer in all_fixers() for path in files_of(fixer.name)}
    for folder in {path.parent for path in known}:
        assert set(folder.glob("*.md")) <= known


def test_cases_survive_being_written_and_read() -> None:
    for fixer in all_fixers():
        for case in cases_of(fixer.name):
            assert list(parse_cases(markdown_of(case))) == [case]
