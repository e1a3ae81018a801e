"""An example of the catalog for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.catalog.parse import Example
from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal


def render(example: Example, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the example."""
    return joined(example_lines(example, Terminal(width, color)))


def example_lines(example: Example, terminal: Terminal) -> Iterator[str]:
    """Yield how the break happens, the code that breaks, and the code of each fix."""
    yield from terminal.labelled("example", " ".join(example.how.split()))
    yield ""
    yield from _code(example.breaks)
    for fix in example.fixes:
        yield ""
        yield from terminal.labelled(fix.kind, f"{fix.why} ({fix.safety})")
        yield ""
        yield from _code(fix.source)
    if example.instead:
        yield ""
        yield from terminal.labelled("instead", example.instead)
    yield ""
    run = f"fullgraph catalog run {example.id}"
    yield from terminal.labelled("run it", run)


def _code(source: str) -> Iterator[str]:
    for line in source.strip("\n").splitlines():
        yield f"    {line}" if line else ""
