"""Highlight Python code as HTML, with one regular expression for speed."""

from __future__ import annotations

import builtins
import keyword
import re
from html import escape

_PYTHON = {"python", "py", "python3", "pycon"}
# Strings of one or several lines; an unclosed one ends with its line or with the code.
_SHORT = r"'(?:\\.|[^'\\\n])*'?|\"(?:\\.|[^\"\\\n])*\"?"
_LONG = r"'''[\s\S]*?(?:'''|\Z)|\"\"\"[\s\S]*?(?:\"\"\"|\Z)"
_STRING = rf"[rRbBuUfF]{{0,2}}(?:{_LONG}|{_SHORT})"
_NUMBER = r"(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?)[jJ]?"
_TOKEN = re.compile(
    rf"(?P<c>\#[^\n]*)|(?P<s>{_STRING})|(?P<d>(?m:^[ \t]*@)[\w.]+)"
    rf"|(?P<def>\b(?:def|class)\b[ \t]+)(?P<f>\w+)|(?P<word>[^\W\d]\w*)|(?P<n>{_NUMBER})"
)
_BUILTINS = {name for name in dir(builtins) if not name.startswith("_")}
_CLASS = dict.fromkeys(_BUILTINS, "b") | dict.fromkeys(keyword.kwlist, "k")


def highlight(code: str, language: str = "python") -> str:
    """Return escaped HTML; every tag is closed at the end of its line."""
    if language.lower() not in _PYTHON:
        return escape(code, quote=False)
    parts: list[str] = []
    position = 0
    for match in _TOKEN.finditer(code):
        start, end = match.span()
        if start > position:
            parts.append(escape(code[position:start], quote=False))
        position = end
        parts.append(_marked(match))
    parts.append(escape(code[position:], quote=False))
    return "".join(parts)


def _marked(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    text = match[0]
    if kind == "word":
        # `x.max` is a method, not the builtin `max`.
        after_dot = match.string[match.start() - 1 : match.start()] == "."
        mark = None if after_dot else _CLASS.get(text)
        return f'<span class="{mark}">{text}</span>' if mark else text
    if kind == "f":
        word, space = match["def"].rstrip(), match["def"][len(match["def"].rstrip()) :]
        return f'<span class="k">{word}</span>{space}<span class="f">{match["f"]}</span>'
    if "\n" not in text:
        return f'<span class="{kind}">{escape(text, quote=False)}</span>'
    lines = (escape(line, quote=False) for line in text.split("\n"))
    return "\n".join(f'<span class="{kind}">{line}</span>' for line in lines)
