"""The dynamic analysis: findings of two runs with the same arguments."""

from __future__ import annotations

import itertools
import logging
import random
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fullgraph.fix.purity.dynamic import dynamic_findings
from fullgraph.fix.purity.findings import Finding


def findings_of(
    function: Callable[..., Any], *arguments: Any, **namespace: Any
) -> list[tuple[str, str]]:
    result = dynamic_findings(function, arguments, namespace)
    assert all(isinstance(each, Finding) and each.by == "run" for each in result.findings)
    return [(each.kind, each.what) for each in result.findings]


def test_a_pure_function_has_no_findings() -> None:
    assert findings_of(lambda x: x * 2, torch.ones(3)) == []


def test_output() -> None:
    def prints(x: Tensor) -> None:
        print("first")
        print("second")

    ((kind, what),) = findings_of(prints, torch.ones(3))
    assert kind == "effect"
    assert what.startswith("produces output: ")
    assert "first" in what
    assert findings_of(lambda: logging.getLogger("tests").warning("hi"))[0][0] == "effect"


def test_an_argument_that_is_mutated() -> None:
    x = torch.ones(3)
    assert findings_of(lambda x: x.add_(1) * 0, x) == [("input", "mutates an argument")]
    assert x.tolist() == [1, 1, 1]
    assert findings_of(lambda xs: xs.append(1), [1]) == [("input", "mutates an argument")]


@pytest.mark.parametrize(
    "draw",
    [lambda: torch.rand(1).sum() * 0, lambda: random.random() * 0, lambda: np.random.rand(1) * 0],
)
def test_random_numbers(draw: Callable[[], Any]) -> None:
    assert findings_of(draw) == [("changing", "draws random numbers")]


def test_a_global_that_is_mutated() -> None:
    state: dict[str, Any] = {"STATE": [], "OTHER": 1, "deep": {"a": {"b": 0}}, "f": print}

    def stores() -> None:
        state["STATE"].append(1)
        state["deep"]["a"]["b"] += 1
        state["NEW"] = 1

    assert dynamic_findings(stores, (), state).findings == [
        Finding("state", 0, f"mutates the global {name}", by="run")
        for name in ("NEW", "STATE", "deep")
    ]


def test_a_second_result_that_differs() -> None:
    counter = itertools.count()
    ((kind, what),) = findings_of(lambda x: x * next(counter), torch.ones(1))
    assert kind == "changing"
    assert what.startswith("the second run differs: ")


def test_output_that_differs_is_one_finding() -> None:
    counter = itertools.count()
    assert len(findings_of(lambda: print(next(counter)))) == 1


def test_files_processes_and_connections(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    assert findings_of(lambda: file.write_text("x") * 0) == [("effect", f"opens {file}")]
    assert findings_of(lambda: (tmp_path / "empty").mkdir(exist_ok=True)) == [
        ("effect", f"calls os.mkdir {tmp_path / 'empty'}")
    ]
    ((kind, what),) = findings_of(lambda: socket.gethostbyname("localhost") and None)
    assert (kind, what) == ("effect", "calls socket.gethostbyname localhost")


def test_reading_code_is_no_finding(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("x = 1")
    assert findings_of(lambda: open(module).close()) == []
    assert findings_of(lambda: open(module, "a").close()) == [("effect", f"opens {module}")]


def test_an_exception_of_both_runs_is_part_of_the_result() -> None:
    result = dynamic_findings(lambda x: x.missing, (torch.ones(1),), {})
    assert result.findings == []
    assert result.raised == "AttributeError"
