"""Candidates for different breaks are tried together, and split only where something differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import Candidate, SearchResult, TrialRequest
from fullgraph.fix.runtime.hot_patch import index_functions
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.search import FixSearch
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.edits import Edit, EditedText, replace_lines
from tests.fix.run_case import LocalTrialRunner, index_what_is_loaded, load, recorded

PART = """
def part_{n}(x):
    if x.sum() > {n}.25:
        y = x * 2
    else:
        y = x + {n}
    return y
"""
END = """
def f(x):
    {calls}
    return x

def inputs():
    return (torch.randn(4),)
"""


class CountingRunner(LocalTrialRunner):
    """Remembers what it was asked."""

    def __init__(self, *where: object) -> None:
        super().__init__(*where)  # type: ignore[arg-type]
        self.requests: list[TrialRequest] = []

    def submit(self, request: TrialRequest) -> int:
        self.requests.append(request)
        return super().submit(request)


def search_with_count(
    source: str,
    folder: Path,
    budget: Budget | None = None,
    fixers: Sequence[Fixer] = all_fixers(),
) -> tuple[SearchResult, list[TrialRequest]]:
    index_what_is_loaded()
    runner = CountingRunner(recorded(load(source, folder)), folder)
    index_functions()
    try:
        search = FixSearch(
            runner, budget=budget or Budget(600), progress=lambda _: None, fixers=fixers
        )
        return search.run(), runner.requests
    finally:
        torch._dynamo.reset()


def program(parts: int) -> str:
    calls = "\n    ".join(f"x = part_{n}(x)" for n in range(parts))
    return (
        "import torch\n" + "".join(PART.format(n=n) for n in range(parts)) + END.format(calls=calls)
    )


def test_more_breaks_need_no_more_trials(tmp_path: Path) -> None:
    found = {}
    for parts in (2, 6):
        folder = tmp_path / str(parts)
        folder.mkdir()
        result, requests = search_with_count(program(parts), folder)
        assert len(result.fixes) == parts
        assert not result.remaining
        assert not [fix for fix in result.fixes if fix.candidate.fixer != "branch_to_where"]
        found[parts] = len(requests)
    # Larger programs run varied inputs in a trial of their own.
    assert found[6] <= found[2] + 1


IN_ONE_FUNCTION = """
import torch

def f(x):
    for _ in range(2):
        if x.sum() > 0.25:
            x = x * 0.5
        else:
            x = x + 0.5
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 3
        if x.sum() > 0.25:
            x = x * 0.5
        else:
            x = x + 0.5
        torch._dynamo.graph_break()
    return x

def inputs():
    return (torch.randn(4),)
"""


@pytest.mark.parametrize("block", ["for _ in range(2):", "if True:"])
def test_the_same_pattern_twice_in_one_function_is_fixed_twice(tmp_path: Path, block: str) -> None:
    source = IN_ONE_FUNCTION.replace("for _ in range(2):", block)
    result, _ = search_with_count(source, tmp_path)
    assert not result.remaining
    fixers = sorted(fix.candidate.fixer for fix in result.fixes)
    assert fixers == ["branch_to_where"] * 2 + ["remove_user_breaks"] * 2


THREE_BREAKS = """
import torch

def one(x):
    torch._dynamo.graph_break()
    return x + 1

def two(x):
    torch._dynamo.graph_break()
    return x * 2

def three(x):
    torch._dynamo.graph_break()
    return x * 3

def f(x):
    return three(two(one(x)))

def inputs():
    return (torch.randn(4),)
"""


def wrong_in_two(context: BreakContext) -> Iterator[Candidate]:
    """Propose to delete the break, and in one function another factor as well."""
    line = context.cause.line
    edits = [replace_lines(context.text, line, line, [])]
    if context.cause.function == "two":
        edits.append(replace_lines(context.text, line + 1, line + 1, ["    return x * 5"]))
    yield Candidate(context.file_edits(edits))


def test_the_good_part_of_a_bundle_is_accepted(tmp_path: Path) -> None:
    (fixer,) = (each for each in all_fixers() if each.name == "remove_user_breaks")
    wrong = replace(fixer, propose_in_module=wrong_in_two)
    result, requests = search_with_count(THREE_BREAKS, tmp_path, fixers=[wrong])
    assert {fix.cause.function for fix in result.fixes} == {"one", "three"}
    (remaining,) = result.remaining
    assert remaining.cause.function == "two"
    assert "outputs" in remaining.rejected[0].reason
    keys = [repr((each.task, each.plan, each.backend, each.varied)) for each in requests]
    assert len(keys) == len(set(keys))


ONLY_MOVES = """
import torch

def f(x):
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
        while x.abs().sum() > 1000.5:
            x = x * 0.5
    return x

def inputs():
    return (torch.randn(4),)
"""


def test_a_fix_that_only_gets_to_another_break_is_taken_back(tmp_path: Path) -> None:
    fixers = [each for each in all_fixers() if each.name == "remove_user_breaks"]
    result, _ = search_with_count(ONLY_MOVES, tmp_path, fixers=fixers)
    assert not result.fixes
    (remaining,) = result.remaining
    assert [each.reason for each in remaining.rejected] == ["it only moves the break"]


def test_what_was_not_tried_is_named_when_the_budget_is_spent(tmp_path: Path) -> None:
    budget = Budget(5, program_seconds=5)
    result, requests = search_with_count(program(2), tmp_path, budget)
    assert result.out_of_time
    assert result.budget == 5
    assert [each.task for each in requests] == ["reference"]
    assert all("branch_to_where" in remaining.untried for remaining in result.remaining)


def test_the_default_budget_grows_with_the_program() -> None:
    budget = Budget(program_seconds=40)
    budget.spend(10)
    budget.grow()
    assert budget.seconds == 300
    given = Budget(20, program_seconds=40)
    given.grow()
    assert given.seconds == 20
    assert given.is_spent


def test_a_line_is_found_again_unless_it_has_changed() -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    one = EditedText(text, [Edit(6, 6, "new\n")])
    two = EditedText(text, [Edit(6, 6, "new\n"), Edit(0, 6, ""), Edit(16, 17, "4")])
    assert one.lines_in(two, 1, 1) is None
    assert one.lines_in(two, 2, 2) == 1
    assert one.lines_in(two, 3, 3) == 2
    assert one.lines_in(two, 4, 4) is None
    assert one.lines_in(two, 2, 3) == 1
    assert two.lines_in(one, 1, 2) == 2
