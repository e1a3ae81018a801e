"""What a failed guard says about a value is what `changes.txt` has.

After a change on purpose, `python -m tests.capture.failed_guards` writes the file again.
"""

from __future__ import annotations

from difflib import unified_diff

import pytest

from fullgraph.capture.dynamo_hooks import current_global_state
from tests.capture.failed_guards import EXPECTED, lines


@pytest.mark.skipif(not current_global_state(), reason="this torch does not tell its state")
def test_every_failed_guard_is_the_expected_change() -> None:
    expected, found = EXPECTED.read_text("utf-8").splitlines(), list(lines())
    assert not list(unified_diff(expected, found, lineterm="", n=1))
