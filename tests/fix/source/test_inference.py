"""Fixers for values and sizes change the code they recognize, and nothing else."""

from __future__ import annotations

import ast
import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fix.break_contexts import break_at_mark, edited_text, refusals_of

_HEAD = "import torch\nimport numpy as np\n\n"


def changed(fixer: str, source: str, **more: str) -> list[str]:
    """Return the lines that a fixer removes and adds; none without a candidate."""
    text = edited_text(fixer, break_at_mark(source, **more))
    if text is None:
        return []
    ast.parse(text)
    return [
        line
        for line in difflib.unified_diff(source.splitlines(), text.splitlines(), n=0, lineterm="")
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]


def reasons(fixer: str, source: str, **more: str) -> list[str]:
    """Return the reasons for which a fixer declines to change a program."""
    return [each.reason for each in refusals_of(fixer, break_at_mark(source, **more))]


names = st.sampled_from(["x", "größe", "scores", "tensor_1", "名前"])
comments = st.text(st.characters(blacklist_categories=("C", "Z")), max_size=20)


@given(names, comments, st.booleans())
def test_item_is_replaced_and_the_rest_of_the_line_stays(
    name: str, comment: str, late: bool
) -> None:
    source = (
        f"{_HEAD}def f({name}):\n    # {comment} ä\n"
        f"    s = {name}.abs().max().item()  # here {comment}\n"
        + ("\n" if late else "")
        + f"    return {name} / s  # {comment}\n"
    )
    assert changed("item_to_tensor", source, id_="GB0124", at=f"{name}.abs") == [
        f"-    s = {name}.abs().max().item()  # here {comment}",
        f"+    s = {name}.abs().max().detach()  # here {comment}",
    ]


@given(names, comments)
def test_a_masked_assignment_is_replaced_and_comments_stay(name: str, comment: str) -> None:
    source = (
        f"{_HEAD}def f({name}, y):\n"
        f"    {name}[{name} > 0] = y[{name} > 0] * 2  # here {comment}\n    return {name}\n"
    )
    assert changed("masks_to_where", source, id_="GB0036", category="dynamic-shapes", at="y[") == [
        f"-    {name}[{name} > 0] = y[{name} > 0] * 2  # here {comment}",
        f"+    {name}.copy_(torch.where({name} > 0, y * 2, {name}))  # here {comment}",
    ]


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("return s", "the number itself is returned or stored"),
        ("return {'scale': s, 'x': x}", "the number itself is returned or stored"),
        ("return x * s if s > 1 else x", "Python compares the number with `1`"),
        ("return x[: int(s)]", "the number is passed to `int`"),
        ("return other(x, s)", "the number is passed to `other`"),
        ("return x * (1 / s)", "the division may raise ZeroDivisionError"),
        ("return x ** s", "`**` rounds differently for a tensor"),
        ("return x * (s % 2)", "the number is used other than in arithmetic with tensors"),
        ("return x * max(s, 1.0)", "the number is passed to `max`"),
        ("print(f'{s:.2f}')\n    return x * s", "the number is formatted as a string"),
        ("self.last = s\n    return x * s", "the number itself is returned or stored"),
        (
            "return [s * 2 for _ in x]",
            "the number is used other than in arithmetic with tensors",
        ),
        ("s += 1\n    return x * s", "`s` is assigned more than once"),
        (
            "return [s * k for k in keys]",
            "the number is combined with `k`, which may not be a tensor",
        ),
    ],
)
def test_a_number_with_another_use_stays_a_number(use: str, reason: str) -> None:
    source = f"{_HEAD}def f(self, x, keys):\n    s = x.abs().max().item()  # here\n    {use}\n"
    assert not changed("item_to_tensor", source, id_="GB0124", at="x.abs")
    assert reasons("item_to_tensor", source, id_="GB0124", at="x.abs") == [reason]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("y[mask].exp()", "`y[mask].exp()` is not known to be safe where the mask is False"),
        ("y[mask] * z[mask]", "`y[mask] * z[mask]` may be NaN where the mask is False"),
        ("y[mask] / z[mask]", "`y[mask] / z[mask]` may be NaN where the mask is False"),
        ("y[mask] / 0", "`y[mask] / 0` may be NaN where the mask is False"),
        ("y[mask] * scale", "`y[mask] * scale` may be NaN where the mask is False"),
        ("y[mask] + scale", "`scale` is not selected with the mask"),
        ("y[mask].flip(0)", "`y[mask].flip(0)` is not known to be safe where the mask is False"),
        (
            "y[mask].cumsum(0)",
            "`y[mask].cumsum(0)` is not known to be safe where the mask is False",
        ),
        ("draw(y[mask])", "`draw(y[mask])` is not known to be safe where the mask is False"),
    ],
)
def test_an_unsafe_value_of_a_masked_assignment_is_declined(value: str, reason: str) -> None:
    source = f"{_HEAD}def f(x, y, z, mask, scale):\n    x[mask] = {value}  # here\n"
    assert not changed("masks_to_where", source, id_="GB0036", category="dynamic-shapes")
    found = reasons("masks_to_where", source, id_="GB0036", category="dynamic-shapes")
    assert found == [reason]


@pytest.mark.parametrize("value", ["y[other]", "y[mask] if flag else z[mask]"])
def test_other_values_of_a_masked_assignment_stay(value: str) -> None:
    source = f"{_HEAD}def f(x, y, z, mask, other, flag):\n    x[mask] = {value}  # here\n"
    assert not changed("masks_to_where", source, id_="GB0036", category="dynamic-shapes")


def test_a_cast_of_selected_elements_is_a_cast_of_all() -> None:
    value = "y[mask].to(torch.float16) * 2"
    source = f"{_HEAD}def f(x, y, mask):\n    x[mask] = {value}  # here\n"
    lines = changed("masks_to_where", source, id_="GB0036", category="dynamic-shapes")
    assert lines[-1].startswith("+    x.copy_(torch.where(chosen, y.to(torch.float16) * 2, x))")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.zeros(n.max(), 4)", "torch.zeros(n.max().item(), 4)"),
        ("torch.zeros((2, n.max() + 1))", "torch.zeros((2, (n.max() + 1).item()))"),
        ("x[:, : n.sum()]", "x[:, : n.sum().item()]"),
        ("x[n.argmax()]", "x[n.argmax().item()]"),
        ("x[:, n.argmax()]", "x.select(1, n.argmax().item())"),
        (
            "torch.repeat_interleave(x, n, dim=0) / n.sum()",
            "torch.repeat_interleave(x, n, dim=0, output_size=n.sum().item()) / n.sum()",
        ),
        (
            "torch.repeat_interleave(x, n, dim=(0)) / n.sum()",
            "torch.repeat_interleave(x, n, dim=0, output_size=n.sum().item()) / n.sum()",
        ),
        ("torch.repeat_interleave(x, repeats=n) / x.sum()", None),
        ("x[n.argsort()]", None),
        ("x[n.argmax(-1)]", None),
        ("x[(n > 0).any()]", None),
        ("torch.zeros(n.shape[0], n.size(0), n.numel())", None),
        ("torch.zeros(n.max().item())", None),
        ("'a b'.split(n.name)", None),
        ("list(range(n.max()))", None),
    ],
)
def test_sizes(before: str, after: str | None) -> None:
    source = f"{_HEAD}def f(x, n):\n    return {before}  # here\n"
    lines = changed("tensor_sizes_to_item", source, id_="GB0033")
    if after is None:
        assert not lines
    else:
        assert lines[-1] == f"+    return {after}  # here"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Of a tensor with one dimension, NumPy gives the float 1.0.
        ("np.prod(x.shape[1:]) > 4", "(math.prod(x.shape[1:]) if x.shape[1:] else 1.0) > 4"),
        ("np.lcm(4, len(x)) > 4", "math.lcm(4, len(x)) > 4"),
        ("int(np.ceil(x.shape[0] / 3)) > 4", "math.ceil(x.shape[0] / 3) > 4"),
        ("np.sqrt(x.size(-1)) > 4", "math.sqrt(x.size(-1)) > 4"),
        ("np.ceil(x.shape[0] / 3) > 4", None),
        ("np.sqrt(x.shape[0] - 9) > 4", None),
        ("np.prod(values) > 4", None),
        ("np.prod(x.shape, axis=0) > 4", None),
        ("np.prod([]) > 4", None),
        ("np.prod(x.shape).item() > 4", None),
        ("1 / np.prod(x.shape) > 4", None),
        ("np.exp(len(x)) > 4", None),
        ("type(np.prod(x.shape)) is int", None),
    ],
)
def test_numpy_of_plain_numbers(before: str, after: str | None) -> None:
    source = f"{_HEAD}def f(x, values):\n    if {before}:  # here\n        return x\n"
    lines = changed("numpy_to_math", source)
    if after is None:
        assert not lines
    else:
        assert lines[-1] == f"+    if {after}:  # here"
        assert "+import math" in lines
