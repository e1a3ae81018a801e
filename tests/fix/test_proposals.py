"""Every fixer proposes for marked breaks what `proposals.txt` has, and no more.

After a change on purpose, `python -m tests.fix.proposals` writes the file again.
"""

from __future__ import annotations

import pytest

from tests.fix.proposals import EXPECTED, Section, result_of, sections


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.fixer)
def test_a_fixer_proposes_what_is_expected(section: Section) -> None:
    assert result_of(section).splitlines() == section.result.splitlines()


def test_every_section_is_read() -> None:
    assert len(sections()) == EXPECTED.read_text("utf-8").count("\n## ")
