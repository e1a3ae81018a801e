"""The page of a fixer for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers._cases import Case
from fullgraph.fix.fixers._pages import FixerPage
from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal, clean

_INDENT = " " * 4
_DIFF_STYLES = {"+": "green", "-": "red", "@": "dim"}


def render(page: FixerPage, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the title, the sections, the breaks that the fixer serves, and its examples."""
    return joined(_lines(page, Terminal(width, color)))


def _lines(page: FixerPage, terminal: Terminal) -> Iterator[str]:
    for line in terminal.wrapped(page.title, f"{page.name}  ", " " * 4):
        yield terminal.style(line, "bold")
    yield f"{page.kind} · {page.safety}"
    yield ""
    yield from terminal.wrapped(page.summary)
    for heading, text in page.sections:
        yield ""
        yield terminal.style(heading, "bold")
        for paragraph in text.split("\n\n"):
            yield from terminal.wrapped(paragraph, _INDENT, _INDENT)
    yield ""
    if page.ids or not page.categories:
        yield from terminal.labelled("breaks", ", ".join(page.ids) or "any")
    if page.categories:
        yield from terminal.labelled("category", ", ".join(page.categories))
    for case in page.examples:
        yield from _example(case, terminal)
    yield ""
    yield from terminal.labelled("try it", "fullgraph fix train.py")


def _example(case: Case, terminal: Terminal) -> Iterator[str]:
    yield ""
    yield terminal.style(f"Example: {case.name}", "bold")
    if case.about:
        yield from terminal.wrapped(" ".join(case.about.split()), _INDENT, _INDENT)
    yield ""
    yield from _code(case.code)
    if case.diff:
        yield ""
        yield f"{_INDENT}becomes"
        yield ""
    for line in case.diff.rstrip().splitlines():
        yield _INDENT + terminal.style(clean(line), _DIFF_STYLES.get(line[:1], ""))
    if case.refused_by:
        yield ""
        yield from terminal.wrapped(f"not applied: {case.reason}", _INDENT, _INDENT)


def _code(source: str) -> Iterator[str]:
    for line in source.strip("\n").splitlines():
        yield f"{_INDENT}{clean(line)}"
