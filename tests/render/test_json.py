"""The JSON report: the fixed top level that other tools build on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch._dynamo import graph_break

from fullgraph.model import cost
from fullgraph.model import report as model
from fullgraph.model.events import GuardChange
from fullgraph.model.report import Report
from fullgraph.render import render

DOCUMENT = Path(__file__).parents[2] / "docs" / "report-format.md"


def loops(x: Tensor) -> Tensor:
    for _ in range(2):
        x = x + 1
        graph_break()
    return x


def test_the_top_level_is_the_one_that_was_promised(compiled_call: Callable[..., Report]) -> None:
    facts = json.loads(render("report", compiled_call(loops, torch.ones(2)), "json"))
    assert facts["format"] == 2
    counts = {"causes", "sites", "occurrences", "skipped_frames", "compiles", "recompiles"}
    assert counts | {"graphs", "ops"} <= set(facts["summary"])
    assert all(isinstance(value, int | float) for value in facts["summary"].values())
    for name in ("causes", "sites", "skipped_frames", "recompiles", "graphs", "disagreements"):
        assert isinstance(facts[name], list)
    assert isinstance(facts["environment"], dict)
    (cause,) = facts["causes"]
    promised = {"id", "type", "category", "owner", "file", "line", "column", "function"}
    assert promised | {"occurrences", "cascades", "stack"} <= set(cause)
    assert cause["stack"][-1]["line"] == cause["line"]


def test_counts_are_the_lengths_of_the_lists(compiled_call: Callable[..., Report]) -> None:
    facts = json.loads(render("report", compiled_call(loops, torch.ones(2)), "json"))
    for name in ("causes", "sites", "skipped_frames", "recompiles", "graphs"):
        assert facts["summary"][name] == len(facts[name])


def test_when_sources_disagree_both_numbers_are_there(compiled_call: Callable[..., Report]) -> None:
    facts = json.loads(render("report", compiled_call(loops, torch.ones(2)), "json"))
    (entry,) = facts["disagreements"]
    assert (entry["what"], entry["ours"], entry["theirs"]) == ("breaks", 1, 0)
    assert "skipped" in entry["why"]


def test_every_field_is_documented() -> None:
    documented = set(re.findall(r"`([a-z_]+)`", DOCUMENT.read_text()))
    structs = (
        model.Report, model.Summary, model.Environment, model.RootCause, model.BreakSite,
        model.CascadingBreak, model.SkippedFrame, model.RecompileFinding, model.GraphFinding,
        model.Disagreement, model.Failure, model.DynamicSizeFinding, model.RecompileGroup,
        model.CallCounts, model.GuardFailure, GuardChange,
        cost.CostReport, cost.CallCost, cost.CausePrice, cost.CostShares, cost.Estimate,
    )  # fmt: skip
    fields = {field for struct in structs for field in struct.__struct_fields__}
    assert fields - documented == set()
