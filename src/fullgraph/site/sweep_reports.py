"""Count breaks in the reports of a set of programs (`fullgraph run --format json`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, json

from fullgraph.errors import FullgraphError
from fullgraph.files import unreadable
from fullgraph.model.report import REPORT_FORMAT
from fullgraph.site.model import SweepCounts

_MOST_NAMES = 8


class _Site(Struct):
    id: str | None
    occurrences: int


class _Report(Struct):
    """The fields of a report that are counted."""

    format: int
    sites: tuple[_Site, ...]


def read_sweep_reports(path: Path) -> dict[str, SweepCounts]:
    """Return the counts by id. Each report stands for one program."""
    found: dict[str, dict[str, list[int]]] = {}
    for program, report in _reports(path):
        for site in report.sites:
            if site.id is not None:
                found.setdefault(site.id, {}).setdefault(program, []).append(site.occurrences)
    return {identifier: _counts(programs) for identifier, programs in found.items()}


def _counts(programs: dict[str, list[int]]) -> SweepCounts:
    often = sorted(programs, key=lambda name: (-sum(programs[name]), name))
    return SweepCounts(
        programs=len(programs),
        sites=sum(map(len, programs.values())),
        occurrences=sum(map(sum, programs.values())),
        names=tuple(often[:_MOST_NAMES]),
    )


def _reports(path: Path) -> Iterator[tuple[str, _Report]]:
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not files:
        raise FullgraphError(
            f"{path} has no reports; make one with fullgraph run --format json -o FILE"
        )
    for file in files:
        name = file.relative_to(path).with_suffix("") if path.is_dir() else Path(file.stem)
        yield name.as_posix(), _read(file)


def _read(file: Path) -> _Report:
    try:
        report = json.decode(file.read_bytes(), type=_Report)
    except OSError as error:
        raise FullgraphError(unreadable(file, error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FullgraphError(
            f"{file} is not a report; make one with fullgraph run --format json -o FILE"
        ) from None
    # These fields are the same in all formats so far.
    if not 1 <= report.format <= REPORT_FORMAT:
        raise FullgraphError(
            f"{file} has the report format {report.format}; this fullgraph reads up to "
            f"{REPORT_FORMAT}; upgrade with pip install -U fullgraph"
        )
    return report
