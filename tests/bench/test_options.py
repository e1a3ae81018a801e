"""The options of `python -m bench`."""

from __future__ import annotations

import pytest

import bench.fix
import bench.pytorch_tests
import bench.startup
from bench.__main__ import main


def test_an_option_has_a_value_and_its_benchmark_gets_it(monkeypatch):
    received = []
    monkeypatch.setattr(bench.pytorch_tests, "main", lambda options: received.append(options) or 1)
    main(["--only", "test_misc", "pytorch_tests", "--tests", "checkout", "--only=test_exc.*"])
    assert str(received[0].tests) == "checkout"
    assert received[0].only == ["test_misc", "test_exc.*"]


def test_options_of_other_benchmarks_still_work(monkeypatch):
    received = []
    monkeypatch.setattr(bench.fix, "main", lambda options: received.append(options) or True)
    main(["fix", "--train", "--results=kept", "--models=A,B"])
    assert (received[0].train, received[0].results, received[0].models) == (True, "kept", "A,B")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["startup", "--tets", "folder"], "unrecognized arguments: --tets folder"),
        (["pytorch_tests", "--tests"], "argument --tests: expected one argument"),
        (["no_such"], "no such benchmark: no_such"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, message):
    with pytest.raises(SystemExit, match=message) as raised:
        main(arguments)
    assert "\n" not in str(raised.value)


def test_a_missed_target_is_named(monkeypatch):
    monkeypatch.setattr(bench.startup, "main", lambda: False)
    with pytest.raises(SystemExit, match="missed: startup"):
        main(["startup"])


def test_without_a_checkout_the_benchmark_is_skipped_and_not_missed(capsys):
    main(["pytorch_tests"])
    assert capsys.readouterr().out.splitlines() == [
        "pytorch_tests: skipped; name a checkout of PyTorch with --tests FOLDER"
    ]
