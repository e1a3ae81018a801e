"""Which accepted fixes `--apply` writes: they are verified once more if others are left out."""

from __future__ import annotations

from typing import NamedTuple

from fullgraph.fix.apply.outside_functions import differ_outside_functions
from fullgraph.fix.apply.patches import third_party_patches
from fullgraph.fix.apply.project import Project, package_of
from fullgraph.fix.model import AcceptedFix, Candidate, FixPlan, SearchResult, combined_plan
from fullgraph.fix.search.grading import Grading, usable_plan
from fullgraph.fix.search.state import without_fix
from fullgraph.fix.source.edits import apply_edits
from fullgraph.fix.source.text import read_source
from fullgraph.fix.trials.runner import TrialRunner

NO_RERUN = "it changes code outside of functions, which only a rerun verifies (--no-rerun)"


class Writable(NamedTuple):
    """What `--apply` writes, and what it does not."""

    plan: FixPlan
    # Why nothing is written although some fixes are of an allowed grade; empty otherwise.
    why_none: str
    # For each fix of the search, why it is not written; empty for one that may be.
    left_out: tuple[str, ...]
    # Patches for the code of libraries, by their names.
    patches: dict[str, str]


def choose_writable(
    runner: TrialRunner,
    result: SearchResult,
    grading: Grading,
    main_file: str,
    *,
    unsafe: bool,
    reruns: bool,
) -> Writable:
    """Return the plan of the fixes that may be written, verified together, and the others."""
    left_out = tuple(
        why_not_written(fix.candidate, main_file, reruns=reruns) for fix in result.fixes
    )
    excluded = [fix for fix, why in zip(result.fixes, left_out, strict=True) if why]
    plan, why_none = usable_plan(runner, result, grading, unsafe=unsafe, excluded=excluded)
    patches = third_party_patches(_allowed(result, grading, unsafe=unsafe), main_file)
    return Writable(plan, why_none, left_out, patches)


def _allowed(result: SearchResult, grading: Grading, *, unsafe: bool) -> FixPlan:
    """Return all fixes of an allowed grade, wherever they are."""
    kept: tuple[AcceptedFix, ...] = result.fixes
    for fix, found in zip(result.fixes, grading.grades, strict=True):
        is_allowed = found.grade == "safe" or (unsafe and found.grade != "unverified")
        if not is_allowed and any(fix is each for each in kept):
            kept = tuple(without_fix(kept, fix))
    return combined_plan(fix.candidate for fix in kept)


def why_not_written(candidate: Candidate, main_file: str, *, reruns: bool) -> str:
    """Return why `--apply` does not write a fix; empty if it may.

    Value guards exist only in a running process, and the code of a library gets a patch.
    """
    if candidate.guards:
        return "a value guard is not a change of a file"
    if candidate.path is not None and not Project(main_file).owns(candidate.path):
        return f"{package_of(candidate.path)} is not your code"
    return NO_RERUN if not reruns and _is_outside_functions(candidate) else ""


def _is_outside_functions(candidate: Candidate) -> bool:
    if candidate.file is None:
        return bool(candidate.settings)
    text = read_source(candidate.file.path) or ""
    return differ_outside_functions(text, apply_edits(text, candidate.file.edits))
