"""The inference says what `inferred.txt` has about every expression, and no more.

After a change on purpose, `python -m tests.fix.source.inferred` writes the file again.
"""

from __future__ import annotations

from difflib import unified_diff

from tests.fix.source.inferred import EXPECTED, lines


def test_the_inference_says_what_is_expected() -> None:
    expected, found = EXPECTED.read_text("utf-8").splitlines(), list(lines())
    assert not list(unified_diff(expected, found, lineterm="", n=0))
