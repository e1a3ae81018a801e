"""Dynamic sizes in words, for every renderer that lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fullgraph.model.events import Frame, SizeReason
from fullgraph.model.report import DynamicSizeFinding
from fullgraph.render.report._phrases import short_name
from fullgraph.terminal import Terminal, one_line

_MOST_CONSTANTS = 5
_WHY: dict[SizeReason, str] = {
    "automatic": "it changed",
    "profile": "it changed in an earlier run or compile",
    "mark_dynamic": "of mark_dynamic",
    "maybe_mark_dynamic": "of maybe_mark_dynamic",
    "mark_unbacked": "of mark_unbacked",
    "dynamic_sources": "dynamic_sources lists it",
    "unbacked_sources": "unbacked_sources lists it",
    "dynamic": "of dynamic=True",
}
_WANTED: dict[SizeReason, str] = {
    "automatic": "dynamic because it changed",
    "profile": "dynamic because it changed earlier",
    "mark_dynamic": "marked dynamic",
    "maybe_mark_dynamic": "marked dynamic (maybe_mark_dynamic)",
    "mark_unbacked": "marked unbacked",
    "dynamic_sources": "listed in dynamic_sources",
    "unbacked_sources": "listed in unbacked_sources",
    "dynamic": "dynamic because of dynamic=True",
}


def is_surprising(size: DynamicSizeFinding) -> bool:
    """Return whether a size was specialized although somebody or something wanted it dynamic.

    With dynamic=True all sizes are dynamic at first, and many are specialized for good reason.
    """
    return bool(size.specialized_to) and size.why != "dynamic"


def interesting_sizes(
    sizes: Iterable[DynamicSizeFinding], *, show_all: bool
) -> list[DynamicSizeFinding]:
    """Return the sizes to show: all, or those that were specialized unexpectedly."""
    return [size for size in sizes if show_all or is_surprising(size)]


def size_name(size: DynamicSizeFinding) -> str:
    """Return `x: size(0)`, or only the name of a number."""
    name = one_line(size.name)
    return name if size.dim is None else f"{name}: size({size.dim})"


def size_lines(
    size: DynamicSizeFinding, terminal: Terminal, place: Callable[[Frame], str]
) -> Iterator[str]:
    """Yield the lines for a size; `place` shows a file and a line."""
    function = f"{short_name(size.qualified)}()"
    yield from terminal.wrapped(_fact(size, place), f"  {function}  ", " " * 6)
    if size.specialized_to:
        yield from terminal.wrapped(one_line(size.because), "      why    ", " " * 13)
        yield from terminal.wrapped(one_line(size.advice), "      do     ", " " * 13)


def _fact(size: DynamicSizeFinding, place: Callable[[Frame], str]) -> str:
    """Return since when and why a size is dynamic, or which line specialized it."""
    if not size.specialized_to:
        change = f" ({size.before} → {size.value})" if size.before is not None else ""
        since = f"{one_line(size.since)}{change}"
        return f"{size_name(size)} dynamic since compile {since}, because {_WHY[size.why]}"
    constants = ", ".join(map(str, size.specialized_to[:_MOST_CONSTANTS]))
    text = f"{size_name(size)} {_WANTED[size.why]}, specialized to {constants}"
    at = size.specialized_at
    return text if at is None else f"{text} by {place(at)}  {one_line(at.code)}"
