"""Which choice is recommended, from what was measured."""

from __future__ import annotations

from msgspec.structs import replace

from fullgraph.where.choosing import is_decided, target_report
from fullgraph.where.facts import ChoiceFacts, TargetFacts
from fullgraph.where.report import Choice, CodeLine, TargetReport

_NOISE = (0.98, 1.0, 1.02, 0.99, 1.01, 1.0)


def rounds(seconds: float) -> dict[int, float]:
    return {number: seconds * noise for number, noise in enumerate(_NOISE)}


def facts(name: str, seconds: float, compiling: float, problem: str = "") -> ChoiceFacts:
    choice = Choice(name, "submodule", "Part", 1, (f"{name}.compile()",))
    first = None if problem else compiling + seconds
    return ChoiceFacts(choice, first, problem=problem, rounds={} if problem else rounds(seconds))


def target(*choices: ChoiceFacts) -> TargetFacts:
    return TargetFacts(
        "model", "Model", False, (CodeLine("train.py", 3, "model.compile()"),), 10, 1,
        eager_rounds=rounds(1.0), choices=choices,
    )  # fmt: skip


def report_of(*choices: ChoiceFacts, interrupted: bool = False) -> TargetReport:
    return target_report(target(*choices), interrupted)


def test_the_fastest_choice_wins_and_says_when_it_pays_off() -> None:
    report = report_of(facts("slow", 0.8, 1.0), facts("fast", 0.5, 20.0))
    assert report.chosen == 1
    assert report.advice == "compile fast"
    assert report.reason.startswith("2.00x as fast as eager mode; faster than all other choices")
    assert report.reason.endswith("pays off after about 40 calls (the program made 10)")


def test_of_choices_that_cannot_be_told_apart_the_one_that_compiles_faster_wins() -> None:
    report = report_of(facts("whole", 0.5, 20.0), facts("blocks", 0.505, 4.0))
    assert report.chosen == 1
    assert "as fast as whole as far as can be told" in report.reason
    assert "compiles in 4.0 s instead of 20.0 s" in report.reason


def test_a_choice_with_other_results_is_not_offered() -> None:
    report = report_of(facts("wrong", 0.1, 1.0, "call 1: outputs: other values"))
    assert report.chosen is None
    assert report.reason == "no choice gives the results of eager mode; the table says why"


def test_nothing_is_compiled_without_a_certain_gain() -> None:
    same = report_of(facts("same", 1.0, 1.0))
    assert (same.chosen, same.advice) == (None, "do not compile it")
    assert same.reason == "no choice is clearly faster; the best is same, ≈ 1x"
    slower = report_of(facts("slower", 2.0, 1.0))
    assert slower.reason == "every choice is slower; the best is slower, 0.50x"


def test_times_that_vary_too_much_say_nothing() -> None:
    wild = replace(facts("wild", 1.0, 1.0), rounds=dict(enumerate((0.5, 2.0, 0.6, 1.5, 0.7, 1.4))))
    assert not is_decided(target(wild))
    report = report_of(wild)
    assert (report.chosen, report.advice) == (None, "cannot be told")
    assert report.reason.startswith("the times vary too much: wild is between ")


def test_too_few_rounds_say_nothing() -> None:
    early = replace(facts("early", 0.5, 1.0), rounds={0: 0.5})
    report = report_of(early, interrupted=True)
    assert report.chosen is None
    assert report.choices[0].speedup is None
    assert report.reason == "it was interrupted before a choice was measured"


def test_rounds_end_when_each_choice_is_certainly_faster_slower_or_equal() -> None:
    assert is_decided(target(facts("fast", 0.5, 1.0), facts("slow", 2.0, 1.0)))
    assert is_decided(target(facts("same", 1.0, 1.0)))
    assert not is_decided(target(facts("fast", 0.5, 1.0), replace(facts("new", 1, 1), rounds={})))
