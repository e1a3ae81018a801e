"""Output may be skipped in compiled code; the statements around it may not."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.edits import apply_edits, indent_under
from fullgraph.fix.source.text import parse
from tests.fix.break_contexts import break_at_mark, candidates_of, edited_text, refusals_of

HEAD = "import torch\nfrom tqdm import tqdm\n\ndef f(self, x, log):\n"
NOT_OUTPUT = {
    "an early return": "    if x.sum() > 0:  # here\n        print(1)\n        return x\n",
    "an else": "    if x.sum() > 0:  # here\n        print(1)\n    else:\n        x = x + 1\n",
    "a result that is used": "    y = print(x.item())  # here\n    return y\n",
    "metrics": "    self.log('loss', x.item())  # here\n",
    "an experiment tracker": "    self.logger.log({'loss': x.item()})  # here\n",
    "a value for a closure": "    n = x.item()  # here\n    return lambda: print(n)\n",
    "a bar with a name": "    bar = tqdm(x)  # here\n    for each in bar:\n        x = x + each\n",
    "a loop that computes": "    for each in x:  # here\n        print(each)\n        x += 1\n",
    "a while loop": "    while x.sum() > 0:  # here\n        print(1)\n",
}
NOT_REMOVABLE = {
    "`self.tick(x)` may have a side effect": "    if self.tick(x):  # here\n        print(1)\n",
    "`(y := x.sum())` has a side effect": (
        "    if (y := x.sum()) > 0:  # here\n        print(1)\n    return y\n"
    ),
    "a value that is printed or logged has another use": (
        "    n = x.item()  # here\n    print(n)\n    return x * n\n"
    ),
    "`n` is assigned more than once": ("    n = x.item()  # here\n    n = n + 1\n    print(n)\n"),
    "`1 / x.shape[0]` may raise an exception": "    print(1 / x.shape[0], x.item())  # here\n",
    "`log(x)` may have a side effect": "    print(log(x), x.item())  # here\n",
    "another statement is on the same line": "    x = x + 1; print(x.item())  # here\n",
}


@pytest.mark.parametrize("body", NOT_OUTPUT.values(), ids=NOT_OUTPUT)
def test_a_statement_that_does_more_than_output_is_not_recognized(body: str) -> None:
    context = break_at_mark(HEAD + body)
    assert candidates_of("skip_logging", context) == []
    assert refusals_of("skip_logging", context) == []


@pytest.mark.parametrize(("reason", "body"), NOT_REMOVABLE.items(), ids=NOT_REMOVABLE)
def test_output_that_cannot_be_removed_is_refused_with_a_reason(reason: str, body: str) -> None:
    context = break_at_mark(HEAD + body)
    assert candidates_of("skip_logging", context) == []
    assert [each.reason for each in refusals_of("skip_logging", context)] == [reason]


def test_a_check_that_only_prints_is_skipped_by_its_own_test() -> None:
    body = "    if x.isnan().any() or x.sum() > 0:  # here\n        print('odd')\n    return x\n"
    text = edited_text("skip_logging", break_at_mark(HEAD + body))
    assert text is not None
    assert (
        "    if not torch.compiler.is_compiling() and (x.isnan().any() or x.sum() > 0):  # here\n"
        "        print('odd')\n" in text
    )


def test_neighbors_are_skipped_together_and_comments_stay() -> None:
    body = "    # why\n    print(1)\n    print(x.item())  # here\n\n    print(2)\n    return x\n"
    assert edited_text("skip_logging", break_at_mark(HEAD + body)) == (
        HEAD + "    # why\n    if not torch.compiler.is_compiling():\n        print(1)\n"
        "        print(x.item())  # here\n\n        print(2)\n    return x\n"
    )


def test_a_value_and_the_output_below_it_share_one_test() -> None:
    body = "    n = x.item()  # here\n    print(n)\n    return x\n"
    assert edited_text("skip_logging", break_at_mark(HEAD + body)) == (
        HEAD + "    if not torch.compiler.is_compiling():\n        n = x.item()  # here\n"
        "        print(n)\n    return x\n"
    )


strings = st.text(alphabet="ab\n\"' é\\", max_size=12)


@given(strings, strings)
def test_indenting_keeps_every_string(one: str, other: str) -> None:
    """Strings of several lines as well."""
    quoted = '"""' + other.replace("\\", "\\\\").replace('"', "'") + '"""'
    source = f"def f():\n    print({one!r}, {quoted})\n    return 1\n"
    tree = parse(source)
    assert tree is not None
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    edits = indent_under(source, [function.body[0]], "if True:")
    assert _strings(ast.parse(apply_edits(source, edits))) == _strings(tree)


def _strings(tree: ast.AST) -> list[str]:
    constants = [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)]
    return [each for each in constants if isinstance(each, str)]
