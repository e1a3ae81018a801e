"""No renderer fails on a result, whatever its strings, numbers and lists are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fullgraph.model.report import CascadingBreak, Report, RootCause, load_report
from fullgraph.render import formats, render
from tests.render.generated import ALL_OPTIONS, KINDS, Options, complaints, results

# A smaller seed is not a smaller report.
_CHEAP = settings(max_examples=200, phases=[Phase.generate])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_format_renders_every_result(kind: str) -> None:
    @_CHEAP
    @given(results(kind), st.sampled_from(ALL_OPTIONS))
    def check(result: Any, options: Options) -> None:
        assert list(complaints(kind, result, options)) == []

    check()


def test_the_json_of_every_report_can_be_read_back(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("reports") / "report.json"

    @settings(_CHEAP, max_examples=50)
    @given(results("report"))
    def check(report: Report) -> None:
        report = msgspec.structs.replace(report, format=2)
        text = render("report", report, "json")
        path.write_text(text, "utf-8")
        assert render("report", load_report(path), "json") == text

    check()


def test_all_kinds_that_commands_write_to_files_are_generated() -> None:
    assert {"report", "fix"} <= KINDS.keys()
    assert {"text", "json"} <= set(formats("report")) & set(formats("fix"))


@given(results("report").filter(lambda report: report.causes))
@settings(_CHEAP, max_examples=1)
def test_thousands_of_cascading_breaks_are_listed_up_to_the_limit(report: Report) -> None:
    cascade = CascadingBreak(None, "Chained", "limits", "/model.py", 3, None, "f", 1, "of that")
    cause: RootCause = msgspec.structs.replace(report.causes[0], cascades=(cascade,) * 3000)
    report = msgspec.structs.replace(report, causes=(cause,))
    text = render("report", report, "text")
    assert text.count("Chained") == 10
    assert "2990 more: fullgraph report --all" in text
    assert render("report", report, "text", top=None).count("Chained") == 3000
