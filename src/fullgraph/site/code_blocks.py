"""Code on a page: highlighted, and beside the code that it replaces with what changed marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from markupsafe import Markup

from fullgraph.site.highlight import highlight

# A longer line has to be scrolled on a phone, and what scrolls must be reachable by keyboard.
_FITS_A_PHONE = 38
# With a longer one the two codes stand below each other: what changed must not be cut off.
_FITS_A_COLUMN = 50


class Pair(NamedTuple):
    before: Markup
    after: Markup
    # Too wide to stand side by side.
    wide: bool


def code_block(code: str, changed: frozenset[int] = frozenset(), tag: str = "ins") -> Markup:
    """A block of Python; the lines of these numbers are marked as put in or taken out."""
    lines = highlight(code.strip("\n")).split("\n")
    shown = "".join(
        f"<{tag}>{line}\n</{tag}>" if number in changed else f"{line}\n"
        for number, line in enumerate(lines)
    )
    focus = ' tabindex="0"' if _is_wider(code, _FITS_A_PHONE) else ""
    return Markup(f"<pre{focus}><code>{shown}</code></pre>")


def code_pair(before: str, after: str, name: str) -> Pair:
    """Both codes; `name` is what the function is called afterwards, which is no change."""
    old = before.strip("\n").split("\n")
    renamed = re.sub(rf"\bdef {re.escape(name)}\b", "def breaks", after.strip("\n"))
    new = renamed.split("\n")
    taken, put = _changed_lines(old, new)
    wide = _is_wider(before, _FITS_A_COLUMN) or _is_wider(after, _FITS_A_COLUMN)
    return Pair(code_block(before, taken, "del"), code_block(after, put, "ins"), wide)


def _is_wider(code: str, most: int) -> bool:
    return any(len(line) > most for line in code.splitlines())


def _changed_lines(old: list[str], new: list[str]) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the lines that one side has and the other has not."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    taken, put = set(range(len(middle_old))), set(range(len(middle_new)))
    if middle_old and middle_new:
        matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
        for block in matcher.get_matching_blocks():
            taken -= set(range(block.a, block.a + block.size))
            put -= set(range(block.b, block.b + block.size))
    return _kept(taken, start, old), _kept(put, start, new)


def _kept(numbers: set[int], start: int, lines: list[str]) -> frozenset[int]:
    return frozenset(start + number for number in numbers if lines[start + number].strip())
