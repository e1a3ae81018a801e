"""All pages of a small site are what `tests/site/expected` has, to the letter.

After a change of the pages on purpose, `python -m tests.site.small_site` writes them again.
"""

from __future__ import annotations

from difflib import unified_diff

from tests.site.small_site import expected, rendered


def test_the_pages_of_a_small_site_are_the_expected_ones() -> None:
    known, found = expected(), rendered()
    assert sorted(known) == sorted(found)
    for path, text in found.items():
        difference = unified_diff(known[path].splitlines(), text.splitlines(), lineterm="")
        assert known[path] == text, "\n".join([path, *difference])
