"""Fixers for values and sizes change what they should, and not a letter more."""

from __future__ import annotations

import ast
import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fix.break_contexts import offered, spot

_HEAD = "import torch\nimport numpy as np\n\n"


def changed(fixer: str, source: str, **more: str) -> list[str]:
    """The lines that come and go; none if nothing is offered."""
    found = offered(fixer, spot(source, **more))
    if not found or found[0].file is None:
        return []
    before, after = source.splitlines(), found[0].file.text.splitlines()
    ast.parse(found[0].file.text)
    return [
        line
        for line in difflib.unified_diff(before, after, n=0, lineterm="")
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]


names = st.sampled_from(["x", "größe", "scores", "tensor_1", "名前"])
comments = st.text(st.characters(blacklist_categories=("C", "Z")), max_size=20)


@given(names, comments, st.booleans())
def test_a_number_stays_a_tensor_whatever_is_around_it(name: str, comment: str, late: bool) -> None:
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
def test_a_choice_keeps_comments_and_the_rest(name: str, comment: str) -> None:
    source = (
        f"{_HEAD}def f({name}, y):\n"
        f"    {name}[{name} > 0] = y[{name} > 0] * 2  # here {comment}\n    return {name}\n"
    )
    assert changed("masks_to_where", source, id_="GB0036", category="dynamic-shapes", at="y[") == [
        f"-    {name}[{name} > 0] = y[{name} > 0] * 2  # here {comment}",
        f"+    {name}.copy_(torch.where({name} > 0, y * 2, {name}))  # here {comment}",
    ]


@pytest.mark.parametrize(
    "use",
    [
        "return s",
        "return {'scale': s, 'x': x}",
        "return x * s if s > 1 else x",
        "return x[: int(s)]",
        "return other(x, s)",
        "return x * (1 / s)",
        "return x ** s",
        "return x * (s % 2)",
        "return x * max(s, 1.0)",
        "print(f'{s:.2f}')\n    return x * s",
        "self.last = s\n    return x * s",
        "s += 1\n    return x * s",
        "return [s * 2 for _ in x]",
    ],
)
def test_a_number_that_something_else_sees_stays_one(use: str) -> None:
    source = f"{_HEAD}def f(self, x):\n    s = x.abs().max().item()  # here\n    {use}\n"
    assert not changed("item_to_tensor", source, id_="GB0124", at="x.abs")


@pytest.mark.parametrize(
    "value",
    [
        "y[other]",
        "y[mask].exp()",
        "y[mask] * z[mask]",
        "y[mask] / z[mask]",
        "y[mask] / 0",
        "y[mask] * scale",
        "y[mask].flip(0)",
        "y[mask].cumsum(0)",
        "draw(y[mask])",
        "y[mask] if flag else z[mask]",
        "y[mask].to(torch.float16) * 2",
    ],
)
def test_what_may_go_wrong_on_elements_that_are_left_out_is_not_a_choice(value: str) -> None:
    source = f"{_HEAD}def f(x, y, z, mask, other, scale):\n    x[mask] = {value}  # here\n"
    lines = changed("masks_to_where", source, id_="GB0036", category="dynamic-shapes")
    if value == "y[mask].to(torch.float16) * 2":
        assert (
            lines[-1]
            .lstrip("+ ")
            .startswith("x.copy_(torch.where(chosen, y.to(torch.float16) * 2, x))")
        )
    else:
        assert not lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.zeros(n.max(), 4)", "torch.zeros(n.max().item(), 4)"),
        ("torch.zeros((2, n.max() + 1))", "torch.zeros((2, (n.max() + 1).item()))"),
        ("x[:, : n.sum()]", "x[:, : n.sum().item()]"),
        ("x[n.argmax()]", "x[n.argmax().item()]"),
        ("x[:, n.argmax()]", "x.select(1, n.argmax().item())"),
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
        ("np.prod(x.shape[1:]) > 4", "math.prod(x.shape[1:]) > 4"),
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
