"""The comparison of reports with PyTorch's tests, on tests of the same shape."""

from __future__ import annotations

import argparse
import json

import pytest

from bench import _pytorch_records as records
from bench import pytorch_tests
from bench.__main__ import main
from bench._pytorch_records import Counts, Facts, Finished, Record, Started

PASSES = Record("test_a.T.test_x", "passed", 0.1)


def watched(**changes: object) -> Record:
    """Return the record of a test that agrees with its report, with some facts changed."""
    facts = {
        "compiles": 1,
        "problems": (),
        "alarms": (),
        "unexplained": (),
        "ids": ("GB0170",),
        "expected_ids": ("GB0170",),
        "only_fullgraph": True,
        "ours": Counts(1, 2),
        "theirs": Counts(1, 2),
    }
    return Record(PASSES.test, "passed", 0.1, "", Facts(**{**facts, **changes}))


def found(record: Record) -> list[tuple[str, str]]:
    _, differences = records.compare({PASSES.test: PASSES}, {record.test: record})
    return [(each.check, each.message) for each in differences]


def test_a_test_that_agrees_meets_every_check():
    applied, differences = records.compare({PASSES.test: PASSES}, {PASSES.test: watched()})
    assert differences == []
    assert set(applied.values()) == {1}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"problems": ("no id",)}, ("captured", "no id")),
        ({"unexplained": ("breaks: 2",)}, ("explained", "breaks: 2")),
        ({"alarms": ("GB0170",)}, ("alarms", "GB0170")),
        ({"ids": ("GB0001",)}, ("ids", "GB0170 not in the report (GB0001)")),
        (
            {"ours": Counts(2, 2)},
            (
                "counts",
                "the report has 2 graphs with 2 operations, "
                "CompileCounter 1 graphs with 2 operations",
            ),
        ),
    ],
)
def test_each_difference_is_found(changes, expected):
    assert found(watched(**changes)) == [expected]


def test_a_break_is_no_alarm_where_a_compile_may_break():
    assert found(watched(alarms=("GB0170",), only_fullgraph=False)) == []


def test_watching_must_not_fail_or_lose_a_test():
    assert found(Record(PASSES.test, "failed", 0.1, "AssertionError: 1 != 2")) == [
        ("harmless", "failed AssertionError: 1 != 2")
    ]
    _, differences = records.compare({PASSES.test: PASSES}, {})
    assert [each.message for each in differences] == ["did not run"]


def test_a_report_that_fails_is_a_difference():
    assert found(Record(PASSES.test, "passed", 0.1, "the report fails")) == [
        ("captured", "the report fails")
    ]


def test_tests_that_fail_without_watching_are_not_compared():
    fails = Record(PASSES.test, "failed", 0.1)
    applied, differences = records.compare({fails.test: fails}, {})
    assert differences == []
    assert set(applied.values()) == {0}


def test_a_test_that_did_not_end_is_remembered(tmp_path):
    file = tmp_path / "records.jsonl"
    records.append(file, Started("a"))
    records.append(file, Record("a", "passed", 0.1))
    records.append(file, Started("b"))
    run = records.read(file)
    assert [each.outcome for each in run.records.values()] == ["passed", "ended the process"]
    assert not run.is_finished


def test_patterns_select_files_classes_and_tests():
    assert records.matches([], "test_a.T.test_x")
    assert records.matches(["test_a"], "test_a.T.test_x")
    assert records.matches(["test_b", "test_?.T.*_x"], "test_a.T.test_x")
    # A file whose tests may match.
    assert records.matches(["test_a.T.test_x"], "test_a")
    assert not records.matches(["test_a.T.test_y"], "test_a.T.test_x")
    assert not records.matches(["test"], "test_a.T.test_x")


def test_the_folder_of_the_tests_and_its_version_are_found(tmp_path):
    dynamo = tmp_path / "test" / "dynamo"
    dynamo.mkdir(parents=True)
    assert records.test_folder(tmp_path) is None
    (dynamo / "test_a.py").touch()
    assert [records.test_folder(each) for each in (tmp_path, dynamo)] == [dynamo, dynamo]
    (tmp_path / "version.txt").write_text("2.13.0a0\n")
    assert records.checkout_version(dynamo) == "2.13.0a0"


def test_versions_that_do_not_fit_are_named():
    assert records.version_notes("2.13.0a0", "2.13.0+cpu") == []
    assert records.version_notes("2.12.0a0", "2.13.0+cpu") == [
        "the tests are of 2.12.0a0; the benchmark is made for 2.13.0",
        "the tests are of 2.12.0a0, but the installed torch is 2.13.0+cpu",
    ]
    assert records.version_notes("2.15.0", "2.15.0") == [
        "the tests are of 2.15.0; the benchmark is made for 2.13.0",
        "the installed torch is 2.15.0; the benchmark is made for 2.13.0",
    ]
    assert "unknown" in records.version_notes(None, "2.13.0")[0]


def test_another_worker_continues_after_a_crash(tmp_path, monkeypatch):
    def run_until_the_crash(self, file, output, watch, only):
        done = records.read(output).records
        if "crash" in done:
            records.append(output, Record("last", "passed", 0.1))
            records.append(output, Finished())
        else:
            records.append(output, Record("first", "passed", 0.1))
            records.append(output, Started("crash"))

    monkeypatch.setattr(pytorch_tests._Bench, "_start_worker", run_until_the_crash)
    options = argparse.Namespace(only=[], workers=1)
    (tmp_path / "test_a.py").touch()
    runs = pytorch_tests._Bench(tmp_path, tmp_path, options).run_all()
    outcomes = {test: each.outcome for test, each in runs.watched.items()}
    assert outcomes == {"first": "passed", "crash": "ended the process", "last": "passed"}


def test_a_worker_that_starts_no_test_is_not_started_forever(tmp_path, monkeypatch):
    monkeypatch.setattr(pytorch_tests._Bench, "_start_worker", lambda *_: None)
    (tmp_path / "test_a.py").touch()
    options = argparse.Namespace(only=[], workers=1)
    runs = pytorch_tests._Bench(tmp_path, tmp_path, options).run_all()
    assert runs.unreadable == {"test_a": "the process ended before the first test"}


def test_a_test_that_fails_only_once_does_no_harm(tmp_path, monkeypatch):
    def run_all_or_one(self, file, output, watch, only):
        outcome = "failed" if watch and not only else "passed"
        records.append(output, Record("test_a.T.test_x", outcome, 0.1))
        records.append(output, Finished())

    monkeypatch.setattr(pytorch_tests._Bench, "_start_worker", run_all_or_one)
    (tmp_path / "test_a.py").touch()
    options = argparse.Namespace(only=[], workers=1)
    runs = pytorch_tests._Bench(tmp_path, tmp_path, options).run_all()
    assert runs.unsteady == ["test_a.T.test_x"]
    assert runs.watched["test_a.T.test_x"].outcome == "passed"


TESTS = '''
import unittest

import torch
from torch._dynamo.testing import CompileCounter


class Shapes(unittest.TestCase):
    def test_agrees(self):
        """Expects .../gb/gb0170.html"""
        counter = CompileCounter()

        def f(x):
            x = x.sin()
            if x.sum() > 0:
                x = x + 1
            return x.cos()

        torch.compile(f, backend=counter)(torch.ones(3))
        self.assertEqual(counter.frame_count, 2)

    def test_expects_another_id(self):
        """Expects .../gb/gb0001.html"""
        torch.compile(lambda x: x.sin(), backend="eager", fullgraph=True)(torch.ones(3))
'''


def test_the_benchmark_runs_tests_of_the_same_shape(tmp_path, capsys):
    (tmp_path / "test_shapes.py").write_text(TESTS)
    output = tmp_path / "results.json"
    with pytest.raises(SystemExit, match="missed: pytorch_tests"):
        main(["pytorch_tests", "--tests", str(tmp_path), "--output", str(output)])
    results = json.loads(output.read_text())
    outcomes = {each["test"].split(".")[-1]: each["outcome"] for each in results["watched"]}
    assert outcomes == {"test_agrees": "passed", "test_expects_another_id": "passed"}
    assert [(each["check"], each["test"]) for each in results["differences"]] == [
        ("ids", "test_shapes.Shapes.test_expects_another_id")
    ]
    printed = capsys.readouterr().out
    assert "pytorch_tests: 1 of 2 tests whose expected messages link to breaks" in printed
    assert "pytorch_tests: 1 of 1 tests whose graphs and operations are those of" in printed
    assert not list(tmp_path.glob("**/__pycache__"))
