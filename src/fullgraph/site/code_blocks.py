"""Show code with syntax highlighting, and mark the changes of a fix."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from html import escape
from typing import NamedTuple

from markupsafe import Markup

from fullgraph.guide.picture import EAGER, GRAPH, TRACED
from fullgraph.site.highlight import highlight

# Longer lines scroll on a phone, and scrollable parts must be reachable by keyboard.
_FITS_A_PHONE = 28
# With longer lines, the two blocks are placed one above the other, to show all changes: in a window
# that is not as wide as a desktop, or in every window.
_FITS_A_NARROW_COLUMN = 50
_FITS_A_COLUMN = 68
_PICTURE = re.compile(f"(.*?) ([{GRAPH}{EAGER}{TRACED}]) ?(.*)")


class Pair(NamedTuple):
    """The code before and after a fix."""

    before: Markup
    after: Markup
    # narrow, medium or wide: the widest blocks do not fit side by side in any window.
    size: str


def code_block(code: str, changed: frozenset[int] = frozenset(), tag: str = "ins") -> Markup:
    """Return a block of Python as HTML; lines with these numbers are marked with `tag`."""
    lines = highlight(code.strip("\n")).split("\n")
    shown = "".join(
        f"<{tag}>{line}\n</{tag}>" if number in changed else f"{line}\n"
        for number, line in enumerate(lines)
    )
    focus = ' tabindex="0"' if _is_wider(code, _FITS_A_PHONE) else ""
    return Markup(f"<pre{focus}><code>{shown}</code></pre>")


def output_block(text: str) -> Markup:
    """Return what a program printed as HTML."""
    shown = escape(text.strip("\n"), quote=False)
    focus = ' tabindex="0"' if _is_wider(text, _FITS_A_PHONE) else ""
    return Markup(f"<pre{focus}><code>{shown}</code></pre>")


def picture_block(picture: str) -> Markup:
    """Return a picture of the guide as HTML: each line with its graphs, and in their color."""
    shown = "".join(map(_picture_line, picture.strip("\n").split("\n")))
    return Markup(f'<pre tabindex="0"><code>{shown}</code></pre>')


def _picture_line(line: str) -> str:
    parts = _PICTURE.fullmatch(line)
    if parts is None:
        return f"{escape(line, quote=False)}\n"
    label, bar, code = parts[1], parts[2], parts[3]
    number = re.search(r"\d+", label)
    kind = "eager" if bar == EAGER else f"graph g{int(number[0]) % 4}" if number else "traced"
    return f'<span class="{kind}"><i>{label}</i> {bar} {highlight(code)}\n</span>'


def diff_block(diff: str) -> Markup:
    """Return a diff as HTML: added lines are `ins`, removed lines are `del`, both with their sign.

    The text of the block is the diff itself, so it can be copied and applied.
    """
    shown = "".join(map(_diff_line, diff.strip("\n").split("\n")))
    focus = ' tabindex="0"' if _is_wider(diff, _FITS_A_PHONE) else ""
    return Markup(f"<pre{focus}><code>{shown}</code></pre>")


def _diff_line(line: str) -> str:
    if line.startswith("@@"):
        return f'<span class="c">{escape(line)}</span>\n'
    marked = f"{line[:1]}{highlight(line[1:])}\n"
    tag = {"+": "ins", "-": "del"}.get(line[:1])
    return f"<{tag}>{marked}</{tag}>" if tag else marked


def code_pair(before: str, after: str, name: str) -> Pair:
    """Return both blocks as HTML. `name` is the new name of the function, which is not a change."""
    taken, put = _changed_lines(_lines(before), _lines(after, name))
    return Pair(
        code_block(before, taken, "del"), code_block(after, put, "ins"), pair_size(before, after)
    )


def pair_size(before: str, after: str) -> str:
    """Return in which windows two blocks fit side by side: narrow, medium or wide ones."""
    longest = max(map(len, [*before.splitlines(), *after.splitlines()]), default=0)
    if longest <= _FITS_A_NARROW_COLUMN:
        return "narrow"
    return "medium" if longest <= _FITS_A_COLUMN else "wide"


def code_change(before: str, after: str, name: str) -> tuple[list[str], list[str]]:
    """Return the lines that a fix removes, and those that it adds."""
    old, new = _lines(before), _lines(after, name)
    taken, put = _changed_lines(old, new)
    return [old[number] for number in sorted(taken)], [new[number] for number in sorted(put)]


def _lines(code: str, name: str = "breaks") -> list[str]:
    """Return the lines of code with the name of the function as it was."""
    return re.sub(rf"\bdef {re.escape(name)}\b", "def breaks", code.strip("\n")).split("\n")


def _is_wider(code: str, most: int) -> bool:
    return any(len(line) > most for line in code.splitlines())


def _changed_lines(old: list[str], new: list[str]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the lines that only one side has."""
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
