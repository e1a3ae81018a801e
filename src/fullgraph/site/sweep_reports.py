"""What a sweep over programs met, from the reports that `fullgraph run --format json` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, json

from fullgraph.errors import FullgraphError
from fullgraph.model.report import REPORT_FORMAT
from fullgraph.site.model import Seen

_MOST_NAMES = 8


class _Site(Struct):
    id: str | None
    occurrences: int


class _Report(Struct):
    """As much of a report as is counted."""

    format: int
    sites: tuple[_Site, ...]


def read_seen(path: Path) -> dict[str, Seen]:
    """By id: in how many programs, at how many places and how often. One report is one program."""
    found: dict[str, dict[str, list[int]]] = {}
    for program, report in _reports(path):
        for site in report.sites:
            if site.id is not None:
                found.setdefault(site.id, {}).setdefault(program, []).append(site.occurrences)
    return {identifier: _seen(programs) for identifier, programs in found.items()}


def _seen(programs: dict[str, list[int]]) -> Seen:
    often = sorted(programs, key=lambda name: (-sum(programs[name]), name))
    return Seen(
        programs=len(programs),
        sites=sum(map(len, programs.values())),
        occurrences=sum(map(sum, programs.values())),
        names=tuple(often[:_MOST_NAMES]),
    )


def _reports(path: Path) -> Iterator[tuple[str, _Report]]:
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not files:
        raise FullgraphError(
            f"{path} has no reports: fullgraph run --format json -o FILE writes one"
        )
    for file in files:
        name = file.relative_to(path).with_suffix("") if path.is_dir() else Path(file.stem)
        yield name.as_posix(), _read(file)


def _read(file: Path) -> _Report:
    try:
        report = json.decode(file.read_bytes(), type=_Report)
    except OSError as error:
        raise FullgraphError(f"cannot read {file}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FullgraphError(
            f"{file} is not a report: fullgraph run --format json -o FILE writes one"
        ) from None
    if report.format != REPORT_FORMAT:
        raise FullgraphError(
            f"{file} has the report format {report.format}; this fullgraph reads {REPORT_FORMAT}"
        )
    return report
