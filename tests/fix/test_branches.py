"""Rewritten branches compute the same in eager mode, whatever the inputs are."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fullgraph.fix.source.context import BreakContext
from tests.fix.break_contexts import MARK, break_at_mark, edited_text, refusals_of

_VALUES = (
    "x", "y", "x + 1", "x - 2", "x * 2", "x * 0.5", "-x", "x * y", "x + y", "x / 2", "x / y",
    "x.abs()", "x.clamp(max=1)", "x.clamp(min=0.5)", "torch.clamp(x, 0, 1)", "x.sigmoid()",
    "torch.tanh(y)", "torch.relu(x)", "x.exp()", "x.sqrt()", "torch.zeros_like(x)", "x ** 2",
    "torch.full_like(x, 3)", "x.sum()", "x.mean()", "x.max()", "x * x.sum()", "x - x.mean()",
    "x.float()", "x.long()", "x.double() * 2", "x.clone()", "x.detach()", "x[0]", "x.round()",
    "y.sum(dim=-1, keepdim=True) * y", "x.mean(-1, keepdim=True) + x", "x.sum(0)", "x > 0",
    "torch.where(x > 0, x, x * 2)", "torch.where(x > 0, x, y)", "x.softmax(-1)", "x // 2",
    "torch.maximum(x, y)", "x.masked_fill(x > 0, 0)", "torch.nn.functional.gelu(x)", "2.0", "1",
)  # fmt: skip
_TESTS = (
    "x.sum() > 0", "not (x > 1).any()", "x.sum() > 0 and y.sum() < 2", "x.mean() > 0.1",
    "x.numel() > 1 and x.sum() > 0", "x.sum().item() > 0.1", "x.min() < 0 or y.sum() > 0",
    "(x > 0).all()", "x.max() > y.max()", "x.abs().sum() > 3", "y.any()", "x.sum()",
    "not x.norm() > 1", "torch.isnan(x).any()", "bool((x == 0).all())", "x.amax(0) > 1",
)  # fmt: skip
_SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 3), (1, 3), (0,), (2, 1))
_NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 0.1)
_ODD = (*_NUMBERS, float("inf"), float("-inf"), float("nan"))

_FORMS = (
    "    if {t}:  # here\n        z = {a}\n    else:\n        z = {b}\n    return z, x",
    "    z = {b}\n    if {t}:  # here\n        z = {a}\n    return z * 2",
    "    if {t}:  # here\n        x = {a}\n    return x + 1",
    "    if {t}:  # here\n        x = {a}\n        y = {b}\n    return x, y",
    "    z = {a} if {t} else {b}  # here\n    return z",
    "    if {t}:  # here\n        return {a}\n    z = {b}\n    return z",
    "    if {t}:  # here\n        return {a}, x\n    else:\n        return {b}, y",
    "    if {t}:  # here\n        z = {a}\n    elif x.sum() > 1:\n        z = {b}\n"
    "    else:\n        z = {a}\n    return z",
    "    if {t}:  # here\n        w = {a}\n        z = w + 1\n    else:\n        z = {b}\n"
    "    return z",
    "    x = {b}\n    if {t}:  # here\n        x = {a}\n    x += 1\n    return x",
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    form, test = draw(st.sampled_from(_FORMS)), draw(st.sampled_from(_TESTS))
    one, other = draw(st.sampled_from(_VALUES)), draw(st.sampled_from(_VALUES))
    return "import torch\n\ndef f(x, y):\n" + form.format(t=test, a=one, b=other) + "\n"


@st.composite
def tensors(draw: st.DrawFn, numbers: tuple[float, ...]) -> torch.Tensor:
    dtype = draw(st.sampled_from([torch.float32, torch.float64, torch.float16, torch.int64]))
    shape = draw(st.sampled_from(_SHAPES))
    size = int(torch.Size(shape).numel())
    values = draw(st.lists(st.sampled_from(numbers), min_size=size, max_size=size))
    whole = [0.0 if value in (float("inf"), float("-inf")) or value != value else value
             for value in values]  # fmt: skip
    return torch.tensor(values if dtype.is_floating_point else whole).reshape(shape).to(dtype)


def break_at_test(source: str) -> BreakContext:
    """Return a break at the test of the `if` or ternary in the marked line."""
    line = next(line for line in source.splitlines() if MARK in line)
    test = line.partition("if ")[2].partition(" else ")[0].partition(":  #")[0]
    return break_at_mark(source, at=test, context="TensorVariable()")


def rewritten(fixer: str, source: str) -> str | None:
    """Return a program after a fixer; None if the fixer does not change it."""
    return edited_text(fixer, break_at_test(source))


def outcome(source: str, *inputs: torch.Tensor) -> tuple[Any, list[torch.Tensor], list[Any]]:
    """Return the results of a program, its inputs afterwards, and the gradients of its inputs."""
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    copies = [
        each.clone().requires_grad_(each.is_floating_point() and "+=" not in source)
        for each in inputs
    ]
    result = namespace["f"](*copies)
    results = list(result) if isinstance(result, tuple) else [result]
    total = sum(
        (each.double() * 1.5).sum()
        for each in results
        if isinstance(each, torch.Tensor) and each.requires_grad
    )
    wanted = [each for each in copies if each.requires_grad]
    gradients: list[Any] = []
    if isinstance(total, torch.Tensor) and wanted:
        found = torch.autograd.grad(total, wanted, allow_unused=True)
        gradients = [torch.zeros_like(w) if g is None else g
                     for w, g in zip(wanted, found, strict=True)]  # fmt: skip
    elif wanted:
        gradients = [torch.zeros_like(each) for each in wanted]
    return results, [each.detach() for each in copies], gradients


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal, NaN included."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and one == other
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return torch.equal(one.nan_to_num(123), other.nan_to_num(123)) and torch.equal(
        one.isnan(), other.isnan()
    )


def check(source: str, new: str, inputs: list[torch.Tensor], *, gradients: bool) -> None:
    """Check that two programs give the same, for inputs for which the first does not raise."""
    try:
        before = outcome(source, *inputs)
    except Exception:
        return
    after = outcome(new, *inputs)
    for what in range(3 if gradients else 2):
        assert len(before[what]) == len(after[what])
        for one, other in zip(before[what], after[what], strict=True):
            assert same(one, other), (new, inputs, one, other)


@pytest.mark.parametrize("fixer", ["branch_to_where", "branch_to_cond"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_a_rewritten_branch_computes_the_same(fixer: str, data: st.DataObject) -> None:
    source = data.draw(programs())
    new = rewritten(fixer, source)
    assume(new is not None)
    assert new is not None
    for _ in range(4):
        odd = data.draw(st.booleans())
        inputs = [data.draw(tensors(_ODD if odd else _NUMBERS)) for _ in range(2)]
        check(source, new, inputs, gradients=not odd)


_PAIR = "        x = x + 1\n    else:\n        x = x - 1\n    return x\n"
_UPDATE = "    if x.sum() > 0:  # here\n        self.total {update}\n    return x\n"
_MODEL = (
    "import torch\n\nclass M(torch.nn.Module):\n    def __init__(self):\n"
    "        self.register_buffer('total', torch.zeros(()))\n\n    def f(self, x, y):\n"
)


@pytest.mark.parametrize(
    ("test", "new"),
    [
        ("(a or b) and not c and x.sum() > 0", "if (a or b) and not c:"),
        ("(x + y).sum().item() > 0.1", "torch.where((x + y).sum().double() > 0.1, x + 1, x - 1)"),
        ("(x.sum() + 1).item() > 0.1", "torch.where((x.sum() + 1).double() > 0.1, x + 1, x - 1)"),
        ("x.sum() > 0 or not y.any()", "torch.where((x.sum() > 0) | (~y.any()), x + 1, x - 1)"),
        ("not x.sum() > 0", "torch.where(x.sum() > 0, x - 1, x + 1)"),
    ],
)
def test_a_test_keeps_its_meaning_as_a_tensor(test: str, new: str) -> None:
    source = f"import torch\n\ndef f(x, y, a=1, b=2, c=3):\n    if {test}:  # here\n{_PAIR}"
    assert new in (rewritten("branch_to_where", source) or "")


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("0 < x.sum() < 1", "a chained comparison of more than names has no equivalent "
                            "for tensors; split it with `and`"),
        ("torch.equal(x, y)", "`equal` returns a Python bool"),
        ("x.sum().item() > y.sum().item()", "both sides of the comparison are read with `.item()`"),
        ("x.sum() > y.sum().item() + 1", "the test computes with a number that is read "
                                         "from a tensor"),
        ("x", "`x` may be a Python value in other calls"),
        ("x.any() and y[0] > 1", "`y[0] > 1` may raise or have side effects, "
                                 "and Python does not always evaluate it"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("fixer", ["branch_to_where", "branch_to_cond"])
def test_a_test_without_a_tensor_equivalent_is_refused(fixer: str, test: str, reason: str) -> None:
    source = f"import torch\n\ndef f(x, y):\n    if {test}:  # here\n{_PAIR}"
    assert [each.reason for each in refusals_of(fixer, break_at_test(source))] == [reason]


@pytest.mark.parametrize(
    ("update", "new"),
    [
        ("-= y.sum() + 1", "self.total - (y.sum() + 1)"),
        ("*= 2", "self.total * 2"),
    ],
)
def test_an_update_of_a_buffer_keeps_its_meaning(update: str, new: str) -> None:
    source = _MODEL + textwrap.indent(_UPDATE.format(update=update), "    ")
    expected = f"self.total.copy_(torch.where(x.sum() > 0, {new}, self.total))"
    assert expected in (rewritten("branch_to_where", source) or "")


def test_a_check_with_a_string_over_several_lines_is_refused() -> None:
    message = '(  # here\n        """not\npositive""")'
    source = f"def f(x):\n    assert (x > 0).all(), {message}\n    return x\n"
    refusals = refusals_of("check_to_assert", break_at_mark(source, at="(x"))
    assert [each.reason for each in refusals] == ["the check has a string that spans several lines"]


def test_a_break_behind_other_characters_is_found() -> None:
    source = (
        "import torch\n\ndef f(x):\n    größe = x.sum(); y = x + 1 if größe > 0 else x  # here\n"
    )
    new = rewritten("branch_to_where", source.replace("else x", "else x - 1"))
    assert "größe = x.sum(); y = torch.where(größe > 0, x + 1, x - 1)  # here" in (new or "")
