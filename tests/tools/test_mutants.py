"""Mutants change what a program does, and nothing that only people or type checkers read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tools.mutants import Mutant, mutants_of
from tools.mutate import (
    ROOT,
    SAMPLE,
    TESTS,
    UNDECIDED,
    WHOLE,
    Copy,
    Outcome,
    apply_all,
    choose_tests,
    decide,
    fixer_of,
    read_lines,
    report,
    results_in,
    spread,
    survivors,
)


def changes(source: str) -> set[tuple[str, str]]:
    """Return the original and the new text of every mutant."""
    return {(mutant.original, mutant.replacement) for mutant in mutants_of(source, "m.py")}


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("a == b", ("a == b", "(a != b)")),
        ("a < b", ("a < b", "(a <= b)")),
        ("a in b", ("a in b", "(a not in b)")),
        ("a and b", ("a and b", "(a or b)")),
        ("not a", ("not a", "(a)")),
        ("if a:\n    b()", ("a", "(not (a))")),
        ("a + b", ("a + b", "(a - b)")),
        ("a = 1", ("1", "2")),
        ("a = True", ("True", "False")),
        ("a == 'x'", ("'x'", "'x~'")),
        ("def f():\n    return g()", ("return g()", "return None")),
        ("a.append(b)", ("a.append(b)", "pass")),
        ("for a in b:\n    break", ("break", "pass")),
        ("raise ValueError('x')", ("raise ValueError('x')", "pass")),
    ],
)
def test_every_operator_changes_its_kind_of_code(source: str, change: tuple[str, str]) -> None:
    assert change in changes(source)


@pytest.mark.parametrize(
    "source",
    [
        "'''A docstring of 1 line.'''",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    a = 1",
        "a: Literal[1]",
        "def f(a: Literal[1] = b) -> Literal[2]: ...",
        "log.info('%d', 1 + 2)",
        "print(1 + 2)",
        "f'{1 + 2}'",
        "@option(default=1)\ndef f(): ...",
        "def f():\n    return None",
    ],
)
def test_texts_and_annotations_have_no_mutants(source: str) -> None:
    assert changes(source) == set()


def test_none_does_not_replace_false() -> None:
    assert changes("def f():\n    return False") == {("False", "True")}


def test_a_mutant_changes_only_its_own_text() -> None:
    source = "é = 'ü'; a = b == c  # why\n"
    mutant = mutants_of(source, "m.py")[0]
    assert mutant.apply(source) == "é = 'ü'; a = (b != c)  # why\n"
    assert mutant.is_valid(source)


def test_the_name_of_a_mutant_stays_when_lines_are_added() -> None:
    before = mutants_of("a = 1\nb = 1\n", "m.py")
    after = mutants_of("import x\n\na = 1\nb = 1\n", "m.py")
    assert [mutant.id for mutant in before] == [mutant.id for mutant in after]
    assert len({mutant.id for mutant in before}) == 2


def test_a_sample_is_the_same_each_time_and_takes_each_line_once() -> None:
    file = "src/fullgraph/analysis/cascades.py"
    mutants = mutants_of((ROOT / file).read_text("utf-8"), file)
    first, second = (spread(mutants, 5, random.Random(1)) for _ in range(2))
    assert first == second
    assert len({mutant.line for mutant in first}) == 5


def test_the_tests_of_the_same_name_come_first() -> None:
    tests = choose_tests("src/fullgraph/registry/match.py")
    assert tests[0] == "tests/registry/test_match.py"
    assert "tests/registry/test_taxonomy.py" in tests
    assert not [test for test in tests if test.startswith("tests/site")]


def test_every_listed_test_exists() -> None:
    for place in {name for names in (*TESTS.values(), *WHOLE.values()) for name in names}:
        assert (ROOT / place).exists(), place
    assert TESTS.keys() == SAMPLE.keys()


def test_a_module_that_cannot_be_imported_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "m.py").write_text("a = 1\nb = 1 // a\n")
    (tmp_path / "conftest.py").write_text("from m import b\n")
    (tmp_path / "test_b.py").write_text("def test_nothing(): ...\n")
    copy = Copy(tmp_path, 0)
    assert copy.run_tests([], ["test_b.py"], 60).outcome == "survived"
    broken = Mutant("m", "src/m.py", 1, "constant", 4, 5, "1", "undefined")
    assert copy.run_tests([broken], ["test_b.py"], 60).outcome == "caught"
    assert (tmp_path / "src" / "m.py").read_text() == "a = 1\nb = 1 // a\n"


def test_a_test_that_fails_because_of_the_tests_before_it_notices_nothing(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "m.py").write_text("a = 1\n")
    (tmp_path / "test_a.py").write_text("import m\ndef test_a(): m.left_over = True\n")
    (tmp_path / "test_b.py").write_text(
        "import m\n"
        "def test_order(): assert not hasattr(m, 'left_over')\n"
        "def test_value(): assert m.a in (1, 2)\n"
    )
    copy = Copy(tmp_path, 0)
    tests = ["test_a.py", "test_b.py"]
    unnoticed = Mutant("m", "src/m.py", 1, "constant", 4, 5, "1", "2")
    assert copy.run_tests([unnoticed], tests, 60).failed == ["test_b.py::test_order"]
    assert copy.run_confirmed(unnoticed, tests).outcome == "survived"
    noticed = Mutant("m", "src/m.py", 1, "constant", 4, 5, "1", "3")
    found = copy.run_confirmed(noticed, tests[::-1])
    assert found == Outcome("caught", ["test_b.py::test_value"])


def test_helpers_of_a_fixer_belong_to_the_fixer() -> None:
    assert fixer_of("src/fullgraph/fix/fixers/masks_to_where/rewrite.py") == "masks_to_where"
    assert fixer_of("src/fullgraph/fix/fixers/_output_calls.py") is None
    assert fixer_of("src/fullgraph/fix/model.py") is None


def result(identifier: str, outcome: str) -> dict[str, object]:
    return {"id": identifier, "package": "site", "file": "m.py", "line": 1, "original": "a",
            "replacement": "b", "outcome": outcome}  # fmt: skip


def test_the_report_counts_the_newest_results_and_leaves_accepted_ones_out(tmp_path: Path) -> None:
    lines = [result("1", "survived"), result("2", "survived"), result("3", "time limit"),
             result("4", "survived"), result("1", "caught")]  # fmt: skip
    text = "\n".join(report(results_in(lines), {"4": "only the order differs"}))
    assert "2 of 3 caught (67 %)" in text
    assert "only the order differs" in text
    assert "\n  1\n" not in text
    file = tmp_path / "results.jsonl"
    file.write_text('{"id": "1"}\n{"id": "2"')
    assert read_lines(file) == [{"id": "1"}]


def test_survivors_are_found_although_the_code_around_them_has_changed() -> None:
    file = "src/fullgraph/site/links.py"
    mutants = mutants_of((ROOT / file).read_text("utf-8"), file)
    lines = [result(mutants[0].id, "survived"), result(mutants[1].id, UNDECIDED),
             result(mutants[2].id, "caught"), result("gone", "survived")]  # fmt: skip
    assert survivors(["site", "registry"], lines) == mutants[:2]
    assert survivors(["registry"], lines) == []


NUMBERS = mutants_of("a = 1\nb = 2\nc = 3\nd = 4\n", "src/fullgraph/site/m.py")


class Noticing(Copy):
    """Stands for a copy of the project, with tests that each notice some groups of mutants."""

    def __init__(self, tests: dict[str, list[set[str]]]) -> None:
        super().__init__(Path(), 0)
        self._tests = tests
        self.runs = 0

    def run_package(self, mutants: list[Mutant], package: str) -> Outcome:
        self.runs += 1
        return self._found(mutants, [*self._tests])

    def run_tests(self, mutants: list[Mutant], arguments: list[str], limit: float) -> Outcome:
        return self._found(mutants, arguments)

    def _found(self, mutants: list[Mutant], tests: list[str]) -> Outcome:
        present = {mutant.original for mutant in mutants}
        failed = [
            test for test in tests if any(noticed <= present for noticed in self._tests[test])
        ]
        return Outcome("caught" if failed else "survived", failed)


@pytest.mark.parametrize(
    ("tests", "caught", "runs"),
    [
        ({"passes": []}, {}, 1),
        ({"one": [{"2"}]}, {"2": "one"}, 2),
        ({"one": [{"2"}], "two": [{"2"}, {"4"}]}, {"2": "one", "4": "two"}, 2),
        # Two mistakes that only show together are no reason to call either of them caught.
        ({"both": [{"1", "2"}]}, {}, 3),
    ],
)
def test_mutants_that_run_together_get_the_outcome_that_each_has_alone(
    tests: dict[str, list[set[str]]], caught: dict[str, str], runs: int
) -> None:
    copy = Noticing(tests)
    outcomes = {
        mutant.original: outcome.failed[0] if outcome.failed else "survived"
        for mutant, outcome in decide(copy, "site", NUMBERS)
    }
    assert outcomes == {"1": "survived", "2": "survived", "3": "survived", "4": "survived"} | caught
    assert copy.runs == runs


def test_a_test_that_fails_without_a_mutant_ends_the_run() -> None:
    with pytest.raises(SystemExit, match="broken fails without a mutant"):
        list(decide(Noticing({"broken": [set()]}), "site", NUMBERS))


def test_edits_of_one_file_are_applied_together() -> None:
    assert apply_all(NUMBERS, "a = 1\nb = 2\nc = 3\nd = 4\n") == "a = 2\nb = 3\nc = 4\nd = 5\n"


def test_a_mutant_inside_of_another_one_runs_later() -> None:
    mutants = mutants_of("a = not (b == c)\n", "src/fullgraph/site/m.py")
    copy = Noticing({"passes": []})
    outcomes = [mutant for mutant, _ in decide(copy, "site", mutants)]
    assert sorted(each.id for each in outcomes) == sorted(each.id for each in mutants)
    assert copy.runs == len(mutants) == 2
