"""docs/api.md lists exactly the public names of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec import Struct

import fullgraph
from fullgraph.capture.api import Watch
from fullgraph.model import cost, events, report
from fullgraph.model.session import Session

DOCUMENT = Path(__file__).parents[1] / "docs" / "api.md"
CLASSES: list[type] = [
    Watch,
    Session,
    report.Report,
    report.Summary,
    report.Environment,
    report.BreakSite,
    report.RootCause,
    report.CascadingBreak,
    report.SkippedFrame,
    report.StanceFinding,
    report.RecompileFinding,
    report.RecompileGroup,
    report.CallCounts,
    report.DynamicSizeFinding,
    cost.CostReport,
    cost.CallCost,
    cost.CostShares,
    cost.CausePrice,
    cost.Estimate,
    report.GraphFinding,
    report.Failure,
    report.Disagreement,
    events.Code,
    events.GuardFailure,
    events.GuardChange,
    events.Problem,
    events.Frame,
    events.SourceLine,
]


def documented() -> dict[str, list[str]]:
    """The names in the first column of each table, by the heading above it."""
    sections = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]
    return {
        section.split("\n", 1)[0]: re.findall(r"^\| `(\w+)` \| \S", section, flags=re.MULTILINE)
        for section in sections
    }


def public_names(kind: type) -> set[str]:
    """The public attributes of a class; a struct inherits those of its documented base."""
    inherited = set(dir(Struct)) | {name for base in kind.__bases__ for name in dir(base)}
    fields = set(getattr(kind, "__struct_fields__", ()))
    return {name for name in {*dir(kind), *fields} - inherited if not name.startswith("_")}


def test_every_section_is_a_class_and_every_class_has_a_section() -> None:
    assert set(documented()) == {"fullgraph", *(kind.__name__ for kind in CLASSES)}


def test_the_names_of_the_package() -> None:
    assert sorted(documented()["fullgraph"]) == sorted(fullgraph.__all__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_attributes_of_a_class(kind: type) -> None:
    names = documented()[kind.__name__]
    assert sorted(names) == sorted(public_names(kind))


def test_every_struct_of_a_report_is_documented() -> None:
    structs = {
        value
        for value in vars(report).values()
        if isinstance(value, type) and issubclass(value, Struct) and value is not Struct
    }
    imported = {kind for kind in structs if kind.__module__ != report.__name__}
    assert structs - imported <= set(CLASSES)
    # Their fields are the names of the JSON report, which docs/report-format.md lists.
    assert imported <= set(CLASSES)
