"""Grades: which fixes are safe, what others assume or change, and which plan may be used."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fullgraph.fix.model import SearchResult
from fullgraph.fix.runtime.hot_patch import index_functions
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.grading import Grading, grade_fixes, usable_plan
from fullgraph.fix.search.search import FixSearch
from tests.fix.run_case import LocalTrialRunner, index_what_is_loaded, load, recorded


def graded(source: str, folder: Path) -> tuple[LocalTrialRunner, SearchResult, Grading]:
    index_what_is_loaded()
    recorder = recorded(load(source, folder))
    index_functions()
    runner = LocalTrialRunner(recorder, folder)
    search = FixSearch(runner, budget=Budget(600), progress=lambda _: None)
    result = search.run()
    grading = grade_fixes(runner, result)
    torch._dynamo.reset()
    return runner, result, grading


WHERE = """\
import torch

def f(x: torch.Tensor):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x * 3
    return y + 1

def inputs():
    return (torch.ones(3, 4),)
"""

CLEAN = """\
import torch

def f(x):
    if x.isnan().any():
        x[x.isnan()] = 0.0
    return (x * x).sum()

def inputs():
    return (torch.ones(8),)
"""

NEVER = WHERE.replace("x.sum() > 0", "x.abs().sum() < 0")
ALMOST_NEVER = WHERE.replace("x.sum() > 0", "x.sum() == 12345.678")


def test_a_rewrite_that_is_the_same_for_all_probes_is_safe(tmp_path: Path) -> None:
    runner, result, grading = graded(WHERE, tmp_path)
    (found,) = grading.grades
    assert (found.grade, found.assumes, found.unreached) == ("safe", (), ())
    assert grading.probes.eager > 20
    assert grading.probes.compiled > 5
    assert usable_plan(runner, result, grading, unsafe=False) == (result.plan, "")


def test_a_store_that_happens_at_every_call_assumes_that_none_is_noticed(tmp_path: Path) -> None:
    runner, result, grading = graded(CLEAN, tmp_path)
    (found,) = grading.grades
    assert found.grade == "assumes"
    assert "`x` requires no gradients" in found.assumes
    assert "no caller relies on which arguments are written to" in found.assumes
    plan, _ = usable_plan(runner, result, grading, unsafe=False)
    assert not plan.files
    plan, _ = usable_plan(runner, result, grading, unsafe=True)
    assert plan == result.plan


def test_a_side_that_no_call_and_no_probe_takes_is_not_verified(tmp_path: Path) -> None:
    runner, result, grading = graded(NEVER, tmp_path)
    (found,) = grading.grades
    assert found.grade == "unverified"
    assert found.unreached == (5,)
    assert found.sides == ("`x.abs().sum() < 0` is true (line 4)",)
    assert not usable_plan(runner, result, grading, unsafe=True)[0].files


def test_a_side_for_which_an_input_is_found_is_verified(tmp_path: Path) -> None:
    _, _, grading = graded(ALMOST_NEVER, tmp_path)
    assert [(each.grade, each.sides) for each in grading.grades] == [("safe", ())]


# The helper's caller writes to its result, which is the argument of the helper on one side.
RARELY_ALIASED = """\
import torch

def f(x: torch.Tensor):
    h = x + 1.0
    out = h if h.abs().max() > 1000.0 else h * 0.5
    out.data.add_(1.0)
    return out, h

def inputs():
    return (torch.ones(8),)
"""


def test_a_fix_that_is_wrong_on_one_side_assumes_that_it_is_never_taken(tmp_path: Path) -> None:
    _, _, grading = graded(RARELY_ALIASED, tmp_path)
    (found,) = grading.grades
    assert (found.grade, found.assumes) == (
        "assumes",
        ("`h.abs().max() > 1000.0` is false (line 5)",),
    )


MIXED = """\
import logging
import torch

log = logging.getLogger("mixed")

def f(x: torch.Tensor):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x * 3
    log.info("called")
    return y + 1

def inputs():
    return (torch.ones(3, 4),)
"""


RARE_PARAMETER = """\
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rare = torch.nn.Linear(4, 4)

    def forward(self, x):
        if x.sum() > 100:
            y = self.rare(x)
        else:
            y = torch.sin(x)
        return y + 1

f = Model()
GRADIENTS = False

def inputs():
    return (torch.ones(2, 4),)
"""


def test_a_gradient_of_zeros_for_the_other_side_is_an_assumption(tmp_path: Path) -> None:
    # No recorded call has gradients, and in eager mode there is no difference.
    _, _, grading = graded(RARE_PARAMETER, tmp_path)
    (found,) = grading.grades
    assert "no caller tells a gradient of zeros from None" in found.assumes


def test_only_safe_fixes_are_used_unless_more_is_asked_for(tmp_path: Path) -> None:
    runner, result, grading = graded(MIXED, tmp_path)
    found = zip(result.fixes, grading.grades, strict=True)
    grades = {fix.candidate.fixer: each.grade for fix, each in found}
    assert grades.pop("branch_to_where") == "safe"
    assert set(grades.values()) == {"changes"}
    plan, why_none = usable_plan(runner, result, grading, unsafe=False)
    assert not why_none
    (file,) = plan.files.values()
    assert any("torch.where" in edit.replacement for edit in file.edits)
    assert not any("is_compiling" in edit.replacement for edit in file.edits)
    assert not plan.settings


SPLIT = """\
import torch

def f(x, lengths):
    parts = x.split(lengths.tolist())
    return parts[0].sum() - parts[1].sum()

def inputs():
    return (torch.ones(6, 2), torch.tensor([2, 4]))
"""


def test_in_memory_assumptions_about_metadata_are_checked_at_each_call(tmp_path: Path) -> None:
    runner, result, grading = graded(SPLIT, tmp_path)
    assert [each.grade for each in grading.grades] == ["assumes"]
    assert grading.grades[0].only_metadata
    assert usable_plan(runner, result, grading, unsafe=False)[0].settings == {}
    plan, _ = usable_plan(runner, result, grading, unsafe=False, in_memory=True)
    assert plan.settings
    assert len(plan.signatures) == 1


NOTHING_TO_FIX = """\
import torch

def f(x):
    return x + 1

def inputs():
    return (torch.ones(2),)
"""


@pytest.mark.parametrize("unsafe", [False, True])
def test_without_fixes_there_is_no_plan(tmp_path: Path, unsafe: bool) -> None:
    runner, result, grading = graded(NOTHING_TO_FIX, tmp_path)
    assert grading.grades == ()
    assert usable_plan(runner, result, grading, unsafe=unsafe)[0].files == {}
