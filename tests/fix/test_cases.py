"""Every fixer mends the programs that it says it mends, and leaves alone those that it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.fix.fixers import Fixer, all_fixers
from tests.fix.run_case import peel


def cases(which: str) -> list[object]:
    return [
        pytest.param(fixer, source, id=f"{fixer.name}: {name}")
        for fixer in all_fixers()
        for name, source in getattr(fixer, which).items()
    ]


@pytest.mark.parametrize(("fixer", "source"), cases("changes"))
def test_it_mends(fixer: Fixer, source: str, tmp_path: Path) -> None:
    peeled = peel(source, tmp_path, fixer)
    assert peeled.baseline.report is not None
    assert peeled.baseline.report.causes
    assert peeled.steps, peeled.tried
    for proof in (peeled.final, peeled.deeper["aot_eager"]):
        assert proof.report is not None
        assert not proof.report.causes
        assert not proof.differences


@pytest.mark.parametrize(("fixer", "source"), cases("refuses"))
def test_it_leaves_alone(fixer: Fixer, source: str, tmp_path: Path) -> None:
    assert not peel(source, tmp_path, fixer).steps


def test_every_fixer_says_what_it_is_about() -> None:
    for fixer in all_fixers():
        assert len(fixer.about.split("\n\n")) >= 3, fixer.name
        assert fixer.changes or fixer.kind == "ease", fixer.name
