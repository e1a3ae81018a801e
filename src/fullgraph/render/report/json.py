"""The report as JSON: see docs/report-format.md."""

from __future__ import annotations

from msgspec import json

from fullgraph.model.report import Report


def render(report: Report, **_: object) -> str:
    return json.format(json.encode(report), indent=1).decode() + "\n"
