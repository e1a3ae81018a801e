"""Report in, text out. One file a format, found by walking report/; each has `render`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullgraph.model.report import Report


def formats() -> list[str]:
    """The formats there are, by looking at the folder: nothing is imported."""
    return sorted(
        file.stem
        for file in (Path(__file__).parent / "report").glob("*.py")
        if not file.stem.startswith("_")
    )


def render(report: Report, format_: str, **options: object) -> str:
    """The report as text, ending in a newline."""
    rendered: str = import_module(f"fullgraph.render.report.{format_}").render(report, **options)
    return rendered
