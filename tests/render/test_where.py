"""The table of `fullgraph where` in a terminal."""

from __future__ import annotations

from msgspec.structs import replace

from fullgraph.model.cost import Estimate
from fullgraph.render import render
from fullgraph.where.report import (
    WHERE_FORMAT,
    Choice,
    ChoiceResult,
    CodeLine,
    NotTried,
    Ratio,
    TargetReport,
    WhereReport,
)

WHOLE = Choice("model", "whole", "Model", 1, ("model.compile()",), True)
CODE = ("for layer in model.layers:", "    layer.compile()")
BLOCKS = Choice("model.layers.*", "blocks", "Block", 12, CODE)
STEADY = Estimate(0.0082, 0.0081, 0.0084)


def report_with(*, chosen: int | None) -> WhereReport:
    results = (
        ChoiceResult(WHOLE, 21.3, 21.2, STEADY, Ratio(1.01, 0.99, 1.02), 2, 1),
        ChoiceResult(BLOCKS, 4.2, 4.1, STEADY, Ratio(1.47, 1.42, 1.51), 1, recompiles=1),
        ChoiceResult(replace(BLOCKS, name="model.wrong"), 1.0, problem="call 1: other values"),
    )
    target = TargetReport(
        name="model", class_name="Model", is_function=False,
        compiled_at=(CodeLine("train.py", 7, "model.compile()"),),
        calls=20, recorded=2, raising=0, backward=True, eager=Estimate(0.012, 0.011, 0.013),
        choices=results, not_tried=(NotTried("model.head", "there was no time"),),
        chosen=chosen, advice="compile each of the 12 blocks model.layers.*", reason="1.47x",
    )  # fmt: skip
    return WhereReport(WHERE_FORMAT, "2.13.0", "inductor", 4, 60.0, (target,))


def test_the_recommendation_is_first_and_its_row_is_marked() -> None:
    lines = render("where", report_with(chosen=1), "text").splitlines()
    assert lines[0] == "fullgraph  compile each of the 12 blocks model.layers.*"
    (row,) = [line for line in lines if line.startswith(">")]
    assert row.split() == [
        ">", "model.layers.*", "(12", "Block)", "4.1", "s", "8.20", "ms", "1.47x", "1", "0", "1"
    ]  # fmt: skip
    text = "\n".join(lines)
    assert "write       for layer in model.layers:\n                  layer.compile()" in text
    assert "instead of  train.py:7  model.compile()" in text
    assert "not tried   model.head: there was no time" in text


def test_a_speedup_that_may_be_none_is_not_a_number() -> None:
    text = render("where", report_with(chosen=None), "text")
    (whole,) = [line for line in text.splitlines() if "model (whole, today)" in line]
    assert "≈ 1x" in whole
    assert "not offered: call 1: other values" in text
    assert "today       train.py:7" in text


def test_rows_fit_a_terminal() -> None:
    text = render("where", report_with(chosen=1), "text", width=80, is_terminal=True)
    assert max(map(len, text.splitlines())) <= 80
