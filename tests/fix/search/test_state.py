"""Fixes of one file are independent, unless one changes what another has written."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from fullgraph.analysis import analyze
from fullgraph.fix.model import AcceptedFix, Candidate, SearchResult, TrialResult, combined_plan
from fullgraph.fix.report.build import removed_causes
from fullgraph.fix.search.state import SearchState, without_fix
from fullgraph.fix.source.context import SourceFile
from fullgraph.fix.source.edits import Edit, FileEdits, apply_edits
from fullgraph.model.events import FORMAT_VERSION
from fullgraph.model.report import RootCause
from fullgraph.model.session import Header, Session
from tests.fix.causes import root_cause

TEXT = "import os\n\na = 1\nb = 2\nc = 3\n"


def fix(file: FileEdits) -> AcceptedFix:
    return AcceptedFix(Candidate(file), root_cause(), "key", 1)


def rewritten(before: str, after: str, *earlier: AcceptedFix) -> AcceptedFix:
    """A fix that replaces a piece of the text that the earlier ones have made."""
    changes = combined_plan(each.candidate for each in earlier).files
    source = SourceFile("f.py", TEXT, changes["f.py"].edits if changes else ())
    start = source.text.index(before)
    edits, replaces = source.edited.rebase([Edit(start, start + len(before), after)])
    return fix(FileEdits("f.py", edits, replaces=replaces))


def text_of(*fixes: AcceptedFix) -> str:
    return apply_edits(TEXT, combined_plan(each.candidate for each in fixes).files["f.py"].edits)


def test_dropping_a_fix_does_not_drop_later_ones() -> None:
    one = rewritten("a = 1", "a = 10\na2 = 11")
    two = rewritten("b = 2", "b = 20", one)
    three = rewritten("c = 3", "c = 30", one, two)
    assert without_fix([one, two, three], one) == [two, three]
    assert text_of(two, three) == TEXT.replace("b = 2", "b = 20").replace("c = 3", "c = 30")
    assert without_fix([one, two, three], two) == [one, three]


def test_a_fix_goes_with_the_one_that_it_builds_on() -> None:
    one = rewritten("a = 1", "a = f(1)")
    two = rewritten("f(1)", "g(1)", one)
    three = rewritten("c = 3", "c = 30", one, two)
    assert text_of(one, two, three).startswith("import os\n\na = g(1)\nb = 2\nc = 30\n")
    assert without_fix([one, two, three], one) == [three]
    assert without_fix([one, two, three], two) == [one, three]


def test_two_fixes_that_need_the_same_import_both_bring_it(tmp_path: Path) -> None:
    torch = Edit(10, 10, "import torch\n")
    one = fix(FileEdits("f.py", (torch, Edit(11, 16, "a = torch.ones(1)")), ("import torch",)))
    two = fix(FileEdits("f.py", (torch, Edit(17, 22, "b = torch.ones(2)")), ("import torch",)))
    assert text_of(one, two).count("import torch\n") == 1
    assert text_of(two) == ("import os\nimport torch\n\na = 1\nb = torch.ones(2)\nc = 3\n")
    plan = combined_plan([one.candidate, two.candidate])
    assert plan.files["f.py"].module_additions == ("import torch",)


NO_BREAKS = analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), ())])
ONE, TWO, THREE, REVEALED = (root_cause(type=name) for name in ("one", "two", "three", "revealed"))
SETTING = Candidate(fixer="setting", kind="setting", settings={"name": True})
REWRITE = Candidate(FileEdits("absent.py", ()), fixer="rewrite")


def trial(*causes: RootCause) -> TrialResult:
    return TrialResult(1, replace(NO_BREAKS, causes=causes))


def removed(state: SearchState) -> list[int]:
    fixes = tuple(state.fixes)
    return removed_causes(SearchResult(state.baseline, state.current, {}, fixes, (), False))


def test_each_fix_has_the_root_causes_of_the_original_program_that_it_removes() -> None:
    state = SearchState(trial(ONE, TWO, THREE))
    state.accept([(ONE, SETTING), (TWO, SETTING), (THREE, SETTING)], trial(THREE, REVEALED))
    state.accept([(THREE, REWRITE)], trial(REVEALED))
    state.accept([(REVEALED, replace(REWRITE, fixer="other"))], trial())
    assert removed(state) == [2, 1, 0]


def test_a_setting_has_what_a_redundant_fix_had_removed() -> None:
    state = SearchState(trial(ONE, TWO))
    state.accept([(ONE, REWRITE)], trial(TWO))
    state.accept([(TWO, SETTING)], trial())
    state.reset(state.fixes[1:], state.current)
    assert removed(state) == [2]


def test_fixes_that_were_tried_together_share_what_they_remove() -> None:
    state = SearchState(trial(ONE, TWO, THREE))
    other = replace(SETTING, fixer="other")
    state.accept([(ONE, SETTING), (TWO, other), (THREE, other)], trial())
    assert removed(state) == [1, 2]


def test_of_several_settings_the_one_for_a_break_has_it() -> None:
    shape = root_cause(id="GB0036")
    state = SearchState(trial(ONE, shape))
    state.accept([(ONE, replace(SETTING, fixer="value_guards", kind="guard"))], trial(shape))
    fixer = "capture_dynamic_output_shape_ops"
    setting = state.as_fix(REVEALED, replace(SETTING, fixer=fixer))
    state.reset([*state.fixes, setting], trial())
    assert removed(state) == [1, 1]
