"""Markdown from people to HTML that is safe to show."""

from __future__ import annotations

from markdown_it import MarkdownIt


def to_html(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
