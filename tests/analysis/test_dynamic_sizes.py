"""Dynamic sizes: since when and why, which line specialized one, and whether the advice helps."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch._dynamo import mark_dynamic, maybe_mark_dynamic
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError

import fullgraph
from fullgraph.model.report import DynamicSizeFinding
from fullgraph.render import render


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Keep torch from logging the errors that these programs are about."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    torch._dynamo.reset()


def ones(*shape: int, marked: int | None = None, strict: bool = False) -> torch.Tensor:
    tensor = torch.ones(*shape)
    if marked is not None:
        (mark_dynamic if strict else maybe_mark_dynamic)(tensor, marked)
    return tensor


def sizes_of(
    function: Callable[..., Any], *calls: tuple[Any, ...], **options: Any
) -> dict[str, DynamicSizeFinding]:
    torch._dynamo.reset()
    with fullgraph.watch() as session:
        compiled = torch.compile(function, backend="eager", **options)
        for arguments in calls:
            with contextlib.suppress(ConstraintViolationError):
                compiled(*arguments)
    report = session.report()
    assert report.problems == ()
    return {f"{size.name}.{size.dim}": size for size in report.dynamic_sizes}


def add(x: torch.Tensor, y: object) -> torch.Tensor:
    return x + y


def test_the_value_of_a_tensor_is_no_size() -> None:
    def scale(x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        return x * step.item()

    assert sizes_of(scale, (ones(4), torch.tensor(3)), fullgraph=True) == {}


def test_a_size_that_changes_is_dynamic_since_the_recompile() -> None:
    sizes = sizes_of(add, (ones(4, 3), 5), (ones(6, 3), 7))
    assert sizes.keys() == {"x.0", "y.None"}
    size = sizes["x.0"]
    assert (size.why, size.since, size.before, size.value) == ("automatic", "0/1", 4, 6)
    assert size.specialized_to == ()


@pytest.mark.parametrize(
    ("argument", "options", "why"),
    [
        (ones(4, marked=0, strict=True), {}, "mark_dynamic"),
        (ones(4, marked=0), {}, "maybe_mark_dynamic"),
        (ones(4), {"dynamic": True}, "dynamic"),
    ],
)
def test_the_reason_for_a_dynamic_size_is_known(
    argument: torch.Tensor, options: dict[str, Any], why: str
) -> None:
    size = sizes_of(add, (argument, 1.5), **options)["x.0"]
    assert (size.why, size.since, size.value) == (why, "0/0", 4)


def test_sizes_that_a_setting_lists_are_known() -> None:
    with torch.compiler.config.patch(dynamic_sources="L['x']"):
        assert sizes_of(add, (ones(4), 1.5))["x.0"].why == "dynamic_sources"


def reshape(y: torch.Tensor) -> torch.Tensor:
    return y.reshape(4, 8) * 2


def reshape_with_size(y: torch.Tensor) -> torch.Tensor:
    return y.reshape(4, y.size(1)) * 2


def compare(y: torch.Tensor) -> torch.Tensor:
    if y.size(1) == 8:
        return y + 1
    return y


def compare_with_order(y: torch.Tensor) -> torch.Tensor:
    if y.size(1) >= 8:
        return y + 1
    return y


def loop(y: torch.Tensor) -> torch.Tensor:
    for index in range(y.size(1)):
        y = y + index
    return y


def without_loop(y: torch.Tensor) -> torch.Tensor:
    return y + torch.arange(y.size(1)).sum()


def index(y: torch.Tensor) -> torch.Tensor:
    return y + list(range(10))[y.size(1)]


def without_index(y: torch.Tensor) -> torch.Tensor:
    return y + y.size(1)


class Case(NamedTuple):
    function: Callable[..., Any]
    because: str
    # The function that follows the advice.
    changed: Callable[..., Any]


CASES = [
    Case(reshape, "8 is written in the line", reshape_with_size),
    Case(compare, "the line compares it with 8", compare_with_order),
    Case(loop, "the loop is unrolled", without_loop),
    Case(index, "the line needs a number of Python", without_index),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.function.__name__)
def test_the_line_that_specializes_a_marked_size_is_shown(case: Case) -> None:
    size = sizes_of(case.function, (ones(4, 8, marked=1),))["y.1"]
    assert size.specialized_to == (8,)
    assert size.specialized_at is not None
    assert size.specialized_at.file == __file__
    assert size.specialized_at.function == case.function.__name__
    assert size.because.startswith(case.because)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.function.__name__)
def test_a_size_stays_dynamic_if_the_advice_is_followed(case: Case) -> None:
    calls = [(ones(4, 8, marked=1, strict=True),), (ones(4, 9, marked=1, strict=True),)]
    assert sizes_of(case.changed, *calls)["y.1"].specialized_to == ()


def test_a_number_is_not_called_a_size() -> None:
    def item(x: torch.Tensor, k: int) -> torch.Tensor:
        return x + list(range(10))[k]

    number = sizes_of(item, (ones(4), 3), (ones(4), 5))["k.None"]
    assert number.specialized_to == (5,)
    assert number.advice == "compute with the number instead, or leave the number static"


def test_sizes_that_are_tied_have_to_be_marked_together() -> None:
    x, y = ones(4, 8, marked=1, strict=True), ones(4, 8)
    size = sizes_of(add, (x, y))["x.1"]
    assert size.specialized_to == (8,)
    assert size.because == "y.size(1) is static and 8 as well"
    assert size.advice.endswith("torch._dynamo.mark_dynamic(y, 1)")
    mark_dynamic(y, 1)
    assert sizes_of(add, (x, y))["x.1"].specialized_to == ()


def test_a_size_of_one_is_specialized_without_a_line() -> None:
    size = sizes_of(add, (ones(1, 8, marked=0, strict=True), 1.5))["x.0"]
    assert (size.specialized_to, size.specialized_at) == ((1,), None)
    assert size.advice == "make the first call with a size of at least 2"
    assert sizes_of(add, (ones(2, 8, marked=0, strict=True), 1.5))["x.0"].specialized_to == ()


def test_a_later_size_of_one_is_not_blamed_on_the_first_call() -> None:
    size = sizes_of(add, (ones(4), 1), (ones(5), 1), (ones(1), 1))["x.0"]
    assert size.specialized_to == (1,)
    assert size.advice.startswith("pass at least 2, or mark the size as unbacked")


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def test_a_size_of_a_parameter_leaves_no_other_size() -> None:
    size = sizes_of(Layer(), (ones(4, 8, marked=1),))["x.1"]
    assert size.because == "self.linear.weight is a parameter with the size 8"
    # The line is that of the user, not the one inside of torch.
    assert size.specialized_at is not None
    assert size.specialized_at.code == "return self.linear(x)"


def test_a_report_shows_only_sizes_that_were_specialized_unexpectedly() -> None:
    torch._dynamo.reset()
    with fullgraph.watch() as session:
        torch.compile(add, backend="eager")(ones(4, marked=0), 1.5)
        torch.compile(reshape, backend="eager")(ones(4, 8, marked=1))
    short = render("report", session.report(), "text")
    assert "x: size(0)" not in short
    assert "reshape()  y: size(1) marked dynamic" in short
    assert "use the size instead of 8: y.size(1)" in short
    assert "x: size(0) dynamic since compile 0/0" in render(
        "report", session.report(), "text", top=None
    )
