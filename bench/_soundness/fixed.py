"""Fix a program in this process: search, verify, grade, and choose the fixes that are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch

from bench._soundness.program import Program
from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import AcceptedFix, FixPlan, SearchResult
from fullgraph.fix.runtime.hot_patch import index_functions
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.grading import FixGrade, Grading, grade_fixes, usable_plan
from fullgraph.fix.search.search import FixSearch
from fullgraph.fix.source.edits import apply_edits
from tests.fix.run_case import LocalTrialRunner, load, recorded

_SECONDS = 600.0
# What a fix claims to change, and the comparison still holds it to: only compiled code differs.
_COMPARED = ("other_exception", "reordered", "dropped")


@dataclass(frozen=True)
class FixedProgram:
    """A program, and its text with the fixes that are compared."""

    text: str
    plan: FixPlan
    # The fixer and the grade of each accepted fix, and what it assumes.
    fixes: list[tuple[str, str, str]] = field(default_factory=list)
    # The fixers of the plan.
    used: list[str] = field(default_factory=list)
    # The least safe of what the plan claims about output and exceptions.
    effects: str = "exact"
    # Why there is nothing to compare.
    reason: str = ""
    diff: str = ""


def fix_program(program: Program, folder: Path) -> FixedProgram:
    """Return a program with the fixes that are safe, or that change only what they name."""
    module = load(program.text, folder)
    file = str(folder / "program.py")
    recorder = recorded(module)
    index_functions()
    fixers = all_fixers() if program.all_fixers else _only(program.fixer)
    try:
        search = FixSearch(
            LocalTrialRunner(recorder, folder),
            budget=Budget(_SECONDS),
            progress=lambda _: None,
            fixers=fixers,
        )
        result = search.run()
        if not result.fixes:
            return FixedProgram(program.text, FixPlan(), reason=_reason(result))
        grading = grade_fixes(search.runner, result)
        return _with_usable(program, file, search, result, grading)
    finally:
        torch._dynamo.reset()


def _only(name: str) -> tuple[Fixer, ...]:
    return tuple(each for each in all_fixers() if each.name == name)


def _reason(result: SearchResult) -> str:
    if not result.remaining:
        return "nothing breaks"
    first = result.remaining[0]
    if first.rejected:
        return f"rejected: {first.rejected[-1].reason}"
    return f"refused: {first.refusals[0].reason}" if first.refusals else "not recognized"


def _with_usable(
    program: Program, file: str, search: FixSearch, result: SearchResult, grading: Grading
) -> FixedProgram:
    shown = [
        (
            fix.candidate.fixer,
            str(grade.grade),
            "; ".join((*grade.assumes, *grade.sides, *map(str, grade.unreached))),
        )
        for fix, grade in zip(result.fixes, grading.grades, strict=True)
    ]
    wanted = [
        fix
        for fix, grade in zip(result.fixes, grading.grades, strict=True)
        if _is_compared(fix, grade)
    ]
    plan, why_none = FixPlan(), "no fix is safe"
    if wanted:
        excluded = [fix for fix in result.fixes if not _is_in(fix, wanted)]
        plan, why_none = usable_plan(search.runner, result, grading, unsafe=True, excluded=excluded)
    if not plan.files:
        reason = why_none or ("only settings" if wanted else "no fix is safe")
        return FixedProgram(program.text, plan, shown, reason=reason)
    text = apply_edits(program.text, plan.files[file].edits)
    used = [fix.candidate.fixer for fix in wanted]
    claims = [str(fix.candidate.safety) for fix in wanted if fix.candidate.safety in _COMPARED]
    effects = max(claims, key=_COMPARED.index) if claims else "exact"
    return FixedProgram(text, plan, shown, used, effects)


def _is_compared(fix: AcceptedFix, grade: FixGrade) -> bool:
    """Return whether a fix is right for all generated inputs, if its grade is.

    It is safe, or changes output and exceptions of compiled code only. What a fixer declares, such
    as that nothing replaces a function of the library, holds for all generated inputs.
    """
    if grade.grade == "unverified" or not set(grade.assumes) <= set(fix.candidate.assumes):
        return False
    return fix.candidate.safety in ("exact", "specialized", *_COMPARED)


def _is_in(fix: AcceptedFix, fixes: list[AcceptedFix]) -> bool:
    return any(fix is each for each in fixes)
