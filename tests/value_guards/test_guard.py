"""The guard: the check that runs before each call."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.fx import Graph, Node

from fullgraph.value_guards.guard import (
    ValueGuard,
    display_name,
    has_same_strides_when_cloned,
    is_comparable,
    is_identical,
)
from fullgraph.value_guards.guard_log import GuardLog, GuardRecord, GuardTiming
from tests.value_guards.run_and_compare import ints


def record(guard: ValueGuard, shown: str = "3") -> GuardRecord:
    return GuardRecord("model.py", 7, "forward", "t", "value", shown, guard.timing)


def sum_guard(expected: Any) -> tuple[ValueGuard, Node]:
    """A guard on `t.sum()`, and the node of `t`."""
    graph, guard = Graph(), ValueGuard()
    tensor = graph.placeholder("t")
    total = graph.call_method("sum", (tensor,))
    guard.add_input(tensor, "L['t']")
    guard.add_node(total, mutates=False)
    guard.add_read(total, None, expected, record(guard))
    return guard, tensor


def test_a_guard_compares_the_value_of_each_call() -> None:
    guard, _ = sum_guard(torch.tensor(3))
    check = guard.build_check({"G": {}})
    assert check({"t": ints(1, 2)})
    assert check({"t": ints(3, 0)})
    assert guard.reason == ["value guard"]
    assert not check({"t": ints(1, 3)})
    assert guard.reason == ["value guard: t gave 3 at model.py:7"]
    assert guard.timing.checked == 3
    assert guard.timing.seconds > 0


def test_a_reader_is_applied_to_the_value() -> None:
    guard, tensor = sum_guard(torch.tensor(3))
    guard.add_read(tensor, torch.count_nonzero, torch.tensor(1), record(guard))
    check = guard.build_check({"G": {}})
    assert check({"t": ints(3, 0)})
    assert not check({"t": ints(1, 2)})


def test_a_guard_that_raises_fails() -> None:
    guard, _ = sum_guard(torch.tensor(3))
    check = guard.build_check({"G": {}})
    assert not check({})
    assert not check({"t": "a string"})
    assert guard.timing.checked == 2


def test_a_guard_that_is_built_twice_checks_the_same() -> None:
    guard, _ = sum_guard(torch.tensor(3))
    for check in (guard.build_check({"G": {}}), guard.build_check({"G": {}})):
        assert check({"t": ints(1, 2)})
        assert not check({"t": ints(1, 3)})


def test_inputs_that_share_memory_with_a_mutated_input_fail() -> None:
    guard, _ = sum_guard(torch.tensor(3))
    guard.require_no_overlap(["L['t']"], ["L['mutated']"])
    check = guard.build_check({"G": {}})
    t = ints(1, 2)
    assert check({"t": t, "mutated": ints(1, 2)})
    assert check({"t": t, "mutated": 5})
    assert not check({"t": t, "mutated": t[1:]})


def mutating_guard() -> ValueGuard:
    """A guard on `t.add_(k).sum()`."""
    graph, guard = Graph(), ValueGuard()
    tensor, number = graph.placeholder("t"), graph.placeholder("k")
    added = graph.call_method("add_", (tensor, number))
    total = graph.call_method("sum", (added,))
    guard.add_input(tensor, "L['t']")
    guard.add_input(number, "L['k']")
    guard.add_node(added, mutates=True)
    guard.add_node(total, mutates=False)
    guard.add_read(total, None, torch.tensor(5), record(guard))
    return guard


def test_a_mutating_guard_runs_on_copies() -> None:
    check = mutating_guard().build_check({"G": {}})
    t = ints(1, 2)
    assert check({"t": t, "k": 1})
    assert t.tolist() == [1, 2]
    assert not check({"t": t, "k": 2})


def test_a_mutating_guard_fails_for_an_input_whose_copy_has_other_strides() -> None:
    check = mutating_guard().build_check({"G": {}})
    strided = torch.tensor([[1, 0], [2, 0]])[:, 0]
    assert not has_same_strides_when_cloned(strided)
    assert not check({"t": strided, "k": 1})


@pytest.mark.parametrize(
    ("value", "expected", "result"),
    [
        (3, 3, True),
        (3, 4, False),
        (1, True, False),
        (True, True, True),
        (ints(1), ints(1), True),
        (ints(1), ints(1, dtype=torch.int32), False),
        (ints(1), ints(1)[None], False),
        (ints(1, 1), ints(1), False),
        (torch.tensor(0.0), torch.tensor(-0.0), False),
        (torch.tensor(math.nan), torch.tensor(math.nan), True),
        (torch.tensor(0.0).half(), torch.tensor(-0.0).half(), False),
        (torch.tensor(0.0).bfloat16(), torch.tensor(0.0).bfloat16(), True),
        (torch.tensor(0.0).double(), torch.tensor(-0.0).double(), False),
    ],
)
def test_values_are_compared_bit_by_bit(value: Any, expected: Any, result: bool) -> None:
    assert is_identical(value, expected) is result


def test_values_that_a_guard_can_compare() -> None:
    assert all(map(is_comparable, (3, True, ints(1), torch.ones(1).half(), torch.ones(1).double())))
    assert not any(map(is_comparable, (3.0, "a", None, [1], torch.ones(1).to(torch.float8_e5m2))))


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("L['t']", "t"),
        ("G['SIZE']", "SIZE"),
        ("L['self']._modules['a']._buffers['b']", "self.a.b"),
        ("L['self']._parameters['w']", "self.w"),
        ("L['grid'][0]", "grid[0]"),
    ],
)
def test_the_name_of_an_input_in_messages(expression: str, name: str) -> None:
    assert display_name(expression) == name


def test_the_time_of_a_guard_is_shared_by_its_values() -> None:
    timing = GuardTiming(reads=4, checked=3, seconds=2.0)
    guard = GuardRecord("model.py", 7, "forward", "t", "value", "3", timing)
    assert guard.seconds == 0.5
    assert guard.checked == 3
    assert GuardRecord("a.py", 1, "f", "t", "value", "3", GuardTiming(seconds=1.0)).seconds == 1.0


def test_the_log_keeps_the_first_reason_and_each_note_once() -> None:
    log = GuardLog()
    log.refuse("a.py", 1, "f", "first")
    log.refuse("a.py", 1, "f", "second")
    log.refuse("a.py", 2, "f", "third")
    assert log.refusals == {("a.py", 1, "f"): "first", ("a.py", 2, "f"): "third"}
    log.note("full")
    log.note("full")
    assert log.notes == ["full"]
