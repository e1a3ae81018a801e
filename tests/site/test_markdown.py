"""Contributed Markdown becomes HTML that cannot do anything harmful."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fullgraph.site.markdown import is_allowed_link, to_html

ALLOWED_TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "a", "code", "pre", "em", "strong",
    "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "s", "span", "div",
}  # fmt: skip
ALLOWED_ATTRIBUTES = {
    "href", "rel", "title", "class", "tabindex", "start", "style", "role", "aria-label",
}  # fmt: skip
VOID = {"br", "hr"}


class Strict(HTMLParser):
    """Fails for any tag or attribute that could be harmful."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED_TAGS, tag
        for name, value in attrs:
            assert name in ALLOWED_ATTRIBUTES, (tag, name)
            if name == "href":
                assert is_allowed_link(value or ""), value
                self.links.append(value or "")
            if name == "style":
                assert value in ("text-align:left", "text-align:right", "text-align:center")
        assert tag != "a" or "a" not in self.open, "a link in a link"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        # `<hr />` is a void element.
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def parsed(text: str) -> Strict:
    parser = Strict()
    parser.feed(to_html(text, 3))
    parser.close()
    assert parser.open == []
    return parser


PIECES = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\nscript:alert(1))",
        "[x](&#x6A;avascript:alert(1))",
        "[x](data:text/html;base64,PHN2Zz4=)",
        "<javascript:x>",
        "![x](https://example.com/a.png)",
        "[![x](https://example.com/a.png)](https://example.com)",
        "![x](data:image/png;base64,AAAA)",
        "[x](//evil.example)",
        "[x](/\\evil.example)",
        "[x](vbscript:x)",
        '[x](https://a.b "t\\" onclick=alert(1)")',
        "[r]\n\n[r]: javascript:alert(1)\n",
        "```python\n</code><script>x</script>\n```",
        '```" onload="x\ny\n```',
        "<a href='javascript:x'>y</a>",
        "|a|b|\n|:-|-|\n|c|<i>|\n",
        "<![CDATA[x]]>",
        "<?php ?>",
        "<!-- c -->",
        "&lt;b&gt;",
        "`<b>`",
        "\u202e",
        *("# h\n", "- a\n", "> q\n", "\\[x](y)", "\x00", "]]>", "\n", "    ", "\t"),
        *"*_`<>\"'&()[]!",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map("".join))
@example("---")
def test_nothing_that_people_write_can_do_anything(text: str) -> None:
    parsed(text)


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
    ],
)
def test_links_that_could_do_harm_are_no_links(target: str) -> None:
    assert parsed(f"[x]({target})").links == []


def test_good_links_stay_and_pages_of_breaks_are_found() -> None:
    text = (
        "[a](https://x.y/z) [b](mailto:a@b.c) [c](gb0125.md#why) [d](../index.html) <https://q.r>"
    )
    assert parsed(text).links == [
        "https://x.y/z",
        "mailto:a@b.c",
        "gb0125.html#why",
        "../index.html",
        "https://q.r",
    ]


def test_an_image_of_another_host_becomes_a_link() -> None:
    shown = parsed("![one](https://x.y/z.png) ![two](pic.png) [![three](https://x.y)](https://a.b)")
    assert shown.links == ["https://x.y/z.png", "https://a.b"]
    assert shown.text == "one two three\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ((1, 2, 6), (3, 4, 5)),
        ((2, 2, 3), (3, 3, 4)),
        ((4, 1, 4), (3, 3, 4)),
        ((1, 2, 3, 4, 5, 6), (3, 4, 5, 6, 6, 6)),
    ],
)
def test_headings_fit_below_that_of_the_section(
    written: tuple[int, ...], shown: tuple[int, ...]
) -> None:
    html = to_html("".join(f"{'#' * level} Heading\n\n" for level in written), 3)
    assert tuple(map(int, re.findall(r"<h(\d)>Heading</h\1>", html))) == shown


def test_html_is_shown_as_text_and_python_is_highlighted() -> None:
    assert parsed("<b>bold</b> & co").text == "<b>bold</b> & co\n"
    code = 'def f(x):\n    return x < "1"  # & more\n'
    shown = parsed(f"```python\n{code}```\n")
    assert shown.text.strip() == code.strip()
    assert "<span" in to_html(f"```python\n{code}```\n")
    assert "<span" not in to_html("```text\ndef f(): pass\n```\n")


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("https://pytorch.org", True), ("mailto:me@example.org", True), ("gb0124.md", True),
        ("/docs/page", True), ("a//b", True), ("#part", True), ("//host/page", False),
        ("/\\host", False), ("\\\\host", False), ("/%5chost", False), ("javascript:x", False),
        ("https:page", False),
    ],
)  # fmt: skip
def test_links_stay_here_or_say_where_they_lead(target: str, allowed: bool) -> None:
    assert is_allowed_link(target) is allowed


def test_columns_are_aligned_without_styles_which_the_policy_forbids() -> None:
    html = to_html("| a | b | c |\n| --- | ---: | :---: |\n| 1 | 2 | 3 |\n")
    assert "style=" not in html
    assert '<td>1</td>\n<td class="right">2</td>\n<td class="center">3</td>' in html
