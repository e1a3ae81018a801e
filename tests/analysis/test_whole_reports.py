"""The whole reports of invented sessions are what `tests/analysis/expected` has.

After a report was changed on purpose, `python -m tests.analysis.whole_reports` writes them again.
"""

from __future__ import annotations

from difflib import unified_diff

import pytest

from tests.analysis.whole_reports import EXPECTED, reports

FOUND = reports()


def test_there_is_an_expected_report_for_each_session() -> None:
    assert sorted(FOUND) == sorted(file.name for file in EXPECTED.iterdir())


@pytest.mark.parametrize("name", sorted(FOUND))
def test_a_report_is_the_expected_one(name: str) -> None:
    expected = (EXPECTED / name).read_text("utf-8")
    difference = unified_diff(expected.splitlines(), FOUND[name].splitlines(), lineterm="")
    assert FOUND[name] == expected, "\n".join(difference)
