"""Messages may be left out of compiled code; whatever else is in their way may not."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.edits import put_under, tree_of
from tests.fix.break_contexts import offered, spot

HEAD = "import torch\nfrom tqdm import tqdm\n\ndef f(self, x, log):\n"
STAYS = {
    "an early return": "    if x.sum() > 0:  # here\n        print(1)\n        return x\n",
    "another side": "    if x.sum() > 0:  # here\n        print(1)\n    else:\n        x = x + 1\n",
    "a test with an effect": "    if self.tick(x):  # here\n        print(1)\n",
    "a test that binds": "    if (y := x.sum()) > 0:  # here\n        print(1)\n    return y\n",
    "a result that is used": "    y = print(x.item())  # here\n    return y\n",
    "metrics": "    self.log('loss', x.item())  # here\n",
    "a tracker of experiments": "    self.logger.log({'loss': x.item()})  # here\n",
    "a value for later": "    n = x.item()  # here\n    print(n)\n    return x * n\n",
    "a value for a closure": "    n = x.item()  # here\n    return lambda: print(n)\n",
    "a value that is set twice": "    n = x.item()  # here\n    n = n + 1\n    print(n)\n",
    "a division": "    print(1 / x.shape[0], x.item())  # here\n",
    "a call of something given": "    print(log(x), x.item())  # here\n",
    "a bar that is kept": "    bar = tqdm(x)  # here\n    for each in bar:\n        x = x + each\n",
    "two statements in a line": "    x = x + 1; print(x.item())  # here\n",
    "a loop that computes": "    for each in x:  # here\n        print(each)\n        x += 1\n",
    "a while loop": "    while x.sum() > 0:  # here\n        print(1)\n",
}


@pytest.mark.parametrize("body", STAYS.values(), ids=STAYS)
def test_it_stays(body: str) -> None:
    assert offered("skip_logging", spot(HEAD + body)) == []


def test_a_whole_check_goes_in_one_line() -> None:
    body = "    if x.isnan().any() or x.sum() > 0:  # here\n        print('odd')\n    return x\n"
    (candidate,) = offered("skip_logging", spot(HEAD + body))
    assert candidate.file is not None
    assert (
        "    if not torch.compiler.is_compiling() and (x.isnan().any() or x.sum() > 0):  # here\n"
        "        print('odd')\n" in candidate.file.text
    )


def test_neighbours_go_together_and_comments_stay() -> None:
    body = "    # why\n    print(1)\n    print(x.item())  # here\n\n    print(2)\n    return x\n"
    (candidate,) = offered("skip_logging", spot(HEAD + body))
    assert candidate.file is not None
    assert candidate.file.text == (
        HEAD + "    # why\n    if not torch.compiler.is_compiling():\n        print(1)\n"
        "        print(x.item())  # here\n\n        print(2)\n    return x\n"
    )


texts = st.text(alphabet="ab\n\"' é\\", max_size=12)


@given(texts, texts)
def test_indenting_keeps_every_text(one: str, other: str) -> None:
    """Also the ones that go over several lines."""
    quoted = '"""' + other.replace("\\", "\\\\").replace('"', "'") + '"""'
    source = f"def f():\n    print({one!r}, {quoted})\n    return 1\n"
    tree = tree_of(source)
    assert tree is not None
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    wrapped = ast.parse(put_under(source, [function.body[0]], "if True:"))
    assert _strings(wrapped) == _strings(tree)


def _strings(tree: ast.AST) -> list[object]:
    return [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)
            and isinstance(each.value, str)]  # fmt: skip
