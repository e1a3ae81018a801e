"""Convert contributed Markdown to safe HTML.

HTML in the text is shown as text. Links lead to web pages and mail addresses only. Nothing is
loaded from other hosts: an image becomes a link.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from fullgraph.site.highlight import highlight

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_ALLOWED = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
# `//host` and its variants lead to other hosts too.
_OTHER_HOST = re.compile(r"[/\\]|%5c", re.IGNORECASE)
_PAGE = re.compile(r"(?:\./)?(gb\d{4,})\.md(?=#|\?|$)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# A list counts twice, with its items. The parser drops deeper text silently.
_DEEPEST = 40


def contributed_html(text: str, top: int) -> tuple[str, str]:
    """Return safe HTML of text that anyone may write, and what is wrong with it, or "".

    Text that is nested too deeply is shown as it was written.
    """
    text = _CONTROL.sub("�", text)
    try:
        tokens = _parser().parse(text)
        if not _is_too_deep(tokens):
            return _html_of(tokens, top), ""
    except RecursionError:
        pass
    problem = f"it is nested more than {_DEEPEST // 2} levels deep, so it is shown as plain text"
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>\n', problem


def _is_too_deep(tokens: Sequence[Token]) -> bool:
    """Check whether the parser may have dropped text, or nested elements without end."""
    return any(
        token.level >= _DEEPEST - 1 or _is_too_deep(token.children or ()) for token in tokens
    )


def to_html(text: str, top: int = 2) -> str:
    """Return safe HTML. `top` is the level of the first heading."""
    return _html_of(_parser().parse(_CONTROL.sub("�", text)), top)


def document_html(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return HTML whose headings have ids, and the id and text of each heading of the top level."""
    tokens = _parser().parse(text)
    contents: list[tuple[str, str]] = []
    taken: set[str] = set()
    top = min((token.tag for token in tokens if token.type == "heading_open"), default="")
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        anchor = re.sub(r"[^\w-]", "", inline.content.lower().replace(" ", "-"))
        # `main` is the id of the page's own content.
        while not anchor or anchor in taken or anchor == "main":
            anchor += "-"
        taken.add(anchor)
        token.attrSet("id", anchor)
        if token.tag == top:
            contents.append((anchor, inline.content))
    return _html_of(tokens, 2), contents


def _html_of(tokens: list[Token], top: int) -> str:
    parser = _parser()
    _fit_headings(tokens, top)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _fit_headings(tokens: Sequence[Token], top: int) -> None:
    """Change heading levels so that they start at `top` and skip none."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    levels = sorted({token.tag for token in headings})
    level = top - 1
    for token in headings:
        if token.nesting == 1:
            level = min(top + levels.index(token.tag), level + 1, 6)
        token.tag = f"h{level}"


def is_allowed_link(target: str) -> bool:
    """Check whether a link is http, https, mailto or relative."""
    if _SCHEME.match(target):
        return _ALLOWED.match(target) is not None
    return not (_OTHER_HOST.match(target) and _OTHER_HOST.match(target[1:]))


def targets_of(text: str) -> list[str]:
    """Return the targets of all links and images, also of those that are not allowed."""
    targets: list[str] = []
    try:
        tokens = _permissive_parser().parse(_CONTROL.sub("�", text))
    except RecursionError:
        return targets
    for block in tokens:
        for token in block.children or ():
            target = token.attrGet("href") or token.attrGet("src")
            if target is not None:
                targets.append(str(target))
    return targets


def _new_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    return parser.enable(["table", "strikethrough"])


@cache
def _permissive_parser() -> MarkdownIt:
    parser = _new_parser()
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


@cache
def _parser() -> MarkdownIt:
    parser = _new_parser()
    parser.validateLink = is_allowed_link  # type: ignore[assignment]
    rules = cast(Any, parser.renderer).rules
    rules["link_open"] = _link
    rules["image"] = _image
    rules["table_open"] = _table
    rules["table_close"] = lambda *_: "</table></div>\n"
    rules["th_open"] = rules["td_open"] = _cell
    rules["fence"] = rules["code_block"] = _code
    return parser


def _link(tokens: Sequence[Token], index: int, *_: object) -> str:
    return _opened(str(tokens[index].attrGet("href") or ""))


def _opened(target: str) -> str:
    target = _PAGE.sub(lambda match: f"{match[1].lower()}.html", target)
    outside = ' rel="nofollow noopener"' if _SCHEME.match(target) else ""
    return f'<a href="{escape(target)}"{outside}>'


def _image(tokens: Sequence[Token], index: int, *_: object) -> str:
    token = tokens[index]
    target = str(token.attrGet("src") or "")
    shown = escape(token.content or target)
    inside_link = sum(each.type == "link_open" for each in tokens[:index]) > sum(
        each.type == "link_close" for each in tokens[:index]
    )
    if inside_link or not _SCHEME.match(target):
        return shown  # The site does not copy files of contributors.
    return f"{_opened(target)}{shown}</a>"


def _table(*_: object) -> str:
    # Wide tables scroll, which must work with a keyboard too.
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _cell(tokens: Sequence[Token], index: int, *_: object) -> str:
    # The policy of the site forbids styles in attributes.
    token = tokens[index]
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="{side}">' if side in ("center", "right") else f"<{token.tag}>"


def _code(tokens: Sequence[Token], index: int, *_: object) -> str:
    token = tokens[index]
    # Wide code scrolls like a table.
    language = token.info.split()[0].lower() if token.info.strip() else ""
    return f'<pre tabindex="0"><code>{highlight(token.content, language)}</code></pre>\n'
