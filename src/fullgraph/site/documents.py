"""Read the files of `docs/`, which the site shows as the documentation of the tool.

A wheel has them in the folder `fullgraph/docs` (`pyproject.toml` puts them there); a checkout has
them in `docs`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from msgspec import Struct

import fullgraph
from fullgraph.site.contributed_files import RefusedError, read_contributed
from fullgraph.site.labels import first_sentence

_PACKAGE = Path(fullgraph.__file__).parent
# Data of the tools that write a file, which pages would show; comments in code stay.
_COMMENT = re.compile(r"(?P<code>^```.*?^```$)|^<!--.*?-->\n?", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"\A# (.+)\n")
_LINK = re.compile(r"(?<!!)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
_MOST_BYTES = 1_000_000


class Document(Struct, frozen=True):
    """A file of `docs/`."""

    name: str
    title: str
    # Markdown, without the title.
    text: str

    @property
    def path(self) -> str:
        """The path of its page on the site."""
        return f"docs/{self.name}.html"

    @property
    def summary(self) -> str:
        """The first sentence of the prose, without links and emphasis."""
        paragraphs = self.text.strip().split("\n\n")
        prose = (each for each in paragraphs if each[:1].isalnum() or each[:1] == "`")
        first = next((each for each in prose if not each.startswith("```")), self.title)
        plain = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", first)
        return first_sentence(re.sub(r"(?<!\w)(\*{1,2})([^*]+)\1(?!\w)", r"\2", plain))[0]


@cache
def all_documents() -> tuple[Document, ...]:
    """Return the files by name; none if neither the wheel nor a checkout has them."""
    folders = (_PACKAGE / "docs", _PACKAGE.parent.parent / "docs")
    folder = next((each for each in folders if (each / "report-format.md").is_file()), None)
    return tuple(map(_read, sorted(folder.glob("*.md")))) if folder else ()


def _read(file: Path) -> Document:
    try:
        text = read_contributed(file, _MOST_BYTES).decode()
    except RefusedError as error:
        text = f"# {file.stem}\n\nThis page is not shown: {error}.\n"
    text = _COMMENT.sub(lambda match: match["code"] or "", text)
    title = _TITLE.match(text)
    if title is None:
        return Document(file.stem, file.stem, text)
    return Document(file.stem, title[1], text[title.end() :])


def linked(text: str, known: frozenset[str], repository: str, branch: str) -> str:
    """Return Markdown whose links lead to pages of the site, to GitHub, or are plain text."""

    def target(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        name = path.removeprefix("./").removesuffix(".md")
        if path.endswith(".md") and name in known:
            return f"]({name}.html{anchor})"
        if repository:
            place = path.removeprefix("../") if path.startswith("../") else f"docs/{path}"
            return f"](https://github.com/{repository}/blob/{branch}/{place}{anchor})"
        return "]()"

    shown = _LINK.sub(target, text)
    return re.sub(r"\[([^]]+)\]\(\)", r"\1", shown)
