"""The search for remedies, without a program."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from fullgraph.fix.source.edits import FileEdits
from fullgraph.model.events import (
    FORMAT_VERSION,
    Call,
    Code,
    Compile,
    GuardChange,
    GuardFailure,
    Recompile,
)
from fullgraph.model.session import Header, Session
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.judge import judge
from fullgraph.recompiles.messages import ReplayOutcome
from fullgraph.recompiles.replay import Replayer
from fullgraph.recompiles.report import Counts
from fullgraph.recompiles.run_facts import RunFacts
from fullgraph.recompiles.search import (
    Baseline,
    GroupSearch,
    RemedySearch,
    TimeLimits,
    independent_batches,
)
from tests.recompiles.groups import group

SCRIPT = "/home/train.py"


class _Interrupted:
    def run(self, *_: Any, **__: Any) -> None:
        raise KeyboardInterrupt


def test_candidates_wait_again_after_an_interrupt() -> None:
    first, second = Candidate("a", config={"a": 1}), Candidate("b", config={"b": 1})
    search = GroupSearch(group(), [first, second])
    session = Session(Header(FORMAT_VERSION, "1"), ())
    later = time.monotonic() + 600
    remedies = RemedySearch(
        cast(Replayer, _Interrupted()),
        Baseline(RunFacts([session]), Path(), None),
        TimeLimits(later, later),
        lambda message: None,
    )
    with pytest.raises(KeyboardInterrupt):
        remedies.run([search])
    assert search.waiting == [first, second]


def _code(name: str, resumed_at: int | None = None) -> Code:
    return Code(SCRIPT, 3, name, name, resumed_at)


def _recompiled(number: int, code: Code, source: str, kind: str = "size") -> list[Any]:
    """Return the events of a function that was compiled twice because a value changed."""
    dim = 0 if kind == "size" else None
    change = GuardChange(kind, "argument", source, source, "4", "6", dim)  # type: ignore[arg-type]
    return [
        Compile(f"{number}/0", code),
        Recompile(f"{number}/1", code, (GuardFailure(f"{number}/0", (source,), (change,)),)),
        Compile(f"{number}/1", code),
    ]


def _facts(*events: Any) -> RunFacts:
    return RunFacts([Session(Header(FORMAT_VERSION, "1"), events)])


def _search(name: str, candidate: Candidate, resumed_at: int | None = None) -> GroupSearch:
    found = group(file=SCRIPT, function=name, qualified=name, resumed_at=resumed_at)
    return GroupSearch(found, [candidate])


def _batch_sizes(facts: RunFacts, *searches: GroupSearch) -> list[int]:
    trials = [(each, each.waiting[0]) for each in searches]
    return [len(batch) for batch in independent_batches(trials, facts)]


def _sources(names: str) -> Candidate:
    return Candidate(names, kind="environment", config={"dynamic_sources": names})


def test_remedies_of_functions_that_are_called_apart_are_replayed_together() -> None:
    first, second = _code("f"), _code("g")
    facts = _facts(
        *_recompiled(0, first, "L['x']"),
        *_recompiled(1, second, "L['y']"),
        Call(1, 1, first, 0.1, ("0/0", "0/1")),
        Call(2, 1, second, 0.1, ("1/0", "1/1")),
    )
    marked = Candidate("mark x", files=(FileEdits(SCRIPT, ()),))
    assert _batch_sizes(facts, _search("f", marked), _search("g", _sources("L['y']:0"))) == [2]
    # The same name is a value of both functions.
    assert _batch_sizes(facts, _search("f", marked), _search("g", _sources("L['x']:0"))) == [1, 1]
    setting = Candidate("allow", kind="setting", files=(FileEdits(SCRIPT, ()),), config={"a": 1})
    assert _batch_sizes(facts, _search("f", marked), _search("g", setting)) == [1, 1]
    assert _batch_sizes(facts, _search("f", setting), _search("g", setting)) == [2]


def test_remedies_of_both_parts_of_a_broken_function_are_replayed_apart() -> None:
    start, rest = _code("f"), _code("f", resumed_at=5)
    facts = _facts(
        *_recompiled(0, start, "L['x']"),
        *_recompiled(1, rest, "L['n']"),
        Call(1, 1, start, 0.1, ("0/0", "1/0", "0/1", "1/1")),
    )
    marked = Candidate("mark x", files=(FileEdits(SCRIPT, ()),))
    searches = _search("f", marked), _search("f", _sources("L['n']"), resumed_at=5)
    assert _batch_sizes(facts, *searches) == [1, 1]


def test_a_remedy_must_help_against_the_change_of_its_own_group() -> None:
    code = _code("f")
    before = _facts(
        *_recompiled(0, code, "L['x']"),
        *_recompiled(0, code, "L['n']", "int")[1:],
    )
    after = _facts(*_recompiled(0, code, "L['x']"))
    outcome = ReplayOutcome("done")
    size = group(file=SCRIPT, function="f", qualified="f")
    number = replace(size, kind="int", source="L['n']", name="n", dim=None)
    assert before.recompiles_of(size) == before.recompiles_of(number) == 1
    remedy = Candidate("dynamic", files=(FileEdits(SCRIPT, ()),))
    refused = judge(size, remedy, before, after, outcome)
    assert refused == "the function compiles again for this change as often"
    helps = judge(number, remedy, before, after, outcome)
    assert not isinstance(helps, str)
    assert helps.compiles == Counts(3, 2)
