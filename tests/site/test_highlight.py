"""Highlighting adds tags and nothing else."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.catalog.parse import example_keys, read_example
from fullgraph.site.highlight import highlight

_PIECES = [
    "def f(x):\n",
    "class  A",
    "'",
    '"',
    '"""',
    "'''",
    "\\",
    "#",
    "\n",
    "@a.b",
    "1.5e3",
    "<b>",
    "&",
    "é",
]


def _source_of(html: str) -> str:
    return unescape(re.sub(r'</?span(?: class="[a-z]")?>', "", html))


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=8), max_size=30).map("".join))
def test_the_source_can_be_read_back(code: str) -> None:
    assert _source_of(highlight(code)) == code


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_every_line_closes_what_it_opens(code: str) -> None:
    for line in highlight(code).split("\n"):
        assert line.count("<span") == line.count("</span>")


def test_every_example_can_be_read_back() -> None:
    for identifier in example_keys():
        example = read_example(identifier)
        assert example is not None
        assert _source_of(highlight(example.breaks)) == example.breaks


def test_what_is_marked() -> None:
    html = highlight('@wrap\ndef scale(x):  # twice\n    return x.max() * max(2.0, len("a"))\n')
    for marked in (
        '<span class="d">@wrap</span>',
        '<span class="k">def</span> <span class="f">scale</span>',
        '<span class="c"># twice</span>',
        '<span class="k">return</span> x.max()',
        '<span class="b">max</span>',
        '<span class="n">2.0</span>',
        '<span class="s">"a"</span>',
    ):
        assert marked in html


def test_other_languages_are_only_escaped() -> None:
    assert highlight("if a < b; then", "bash") == "if a &lt; b; then"
