"""The documentation of the tool: install, the commands with real output, and the formats."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from fullgraph.guide.manual import Chapter, ChapterPart, all_chapters
from fullgraph.guide.wording import filled_in
from fullgraph.registry.pages import Page
from fullgraph.site.code_blocks import code_block, output_block
from fullgraph.site.documents import Document, all_documents, linked
from fullgraph.site.markdown import document_html, to_html
from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import PageFrame, frame_of, renderer, root_of

_INDEX = "docs/index.html"
# For people who change fullgraph, not for those who use it.
_FOR_CONTRIBUTORS = ("architecture", "benchmarks", "testing")


class _Link(NamedTuple):
    title: str
    # From the root of the site.
    path: str
    summary: str


class _Group(NamedTuple):
    title: str
    anchor: str
    links: tuple[_Link, ...]


class _Shown(NamedTuple):
    kind: str
    html: Markup
    # The name of a file.
    name: str = ""


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)
    groups = manual_groups()
    values = {
        "kind": "docs",
        "title": "Documentation",
        "description": "How to install fullgraph, its commands with real output, and its formats.",
        "groups": groups,
    }
    yield Output(_INDEX, (frame, groups), renderer("manual.html", frame, _INDEX, **values))
    for chapter in all_chapters():
        types = {each: site.breaks[each].page.type for each in _ids(chapter, site)}
        yield Output(
            chapter.path,
            (frame, groups, chapter, types),
            partial(_chapter, frame, groups, chapter, site),
        )
    known = frozenset(each.name for each in all_documents())
    for document in all_documents():
        text = linked(document.text, known, site.settings.repository, site.settings.branch)
        shown = (frame, groups, document.title, text)
        yield Output(document.path, shown, partial(_document, frame, groups, document, text))


def manual_groups() -> list[_Group]:
    """Return the table of contents."""
    chapters, documents = all_chapters(), all_documents()
    start = [_link(each) for each in chapters if not each.command]
    commands = [
        _Link(f"fullgraph {each.command}", each.path, each.title)
        for each in chapters
        if each.command
    ]
    formats = [_link(each) for each in documents if each.name.endswith("-format")]
    rest = [each for each in documents if not each.name.endswith("-format")]
    topics = [_link(each) for each in rest if each.name not in _FOR_CONTRIBUTORS]
    inside = [_link(each) for each in rest if each.name in _FOR_CONTRIBUTORS]
    groups = (
        _Group("Start", "start", tuple(start)),
        _Group("Commands", "commands", tuple(commands)),
        _Group("Formats", "formats", tuple(formats)),
        _Group("Topics", "topics", tuple(topics)),
        _Group("For contributors", "contributors", tuple(inside)),
    )
    return [group for group in groups if group.links]


def _link(each: Chapter | Document) -> _Link:
    return _Link(each.title, each.path, each.summary)


def _ids(chapter: Chapter, site: SiteData) -> list[str]:
    text = "".join(part.text for part in chapter.parts)
    return [each for each in site.breaks if f"{{{{{each}." in text]


def _chapter(frame: PageFrame, groups: list[_Group], chapter: Chapter, site: SiteData) -> bytes:
    def page_of(identifier: str) -> Page | None:
        each = site.breaks.get(identifier)
        return each.page if each is not None else None

    parts = [_shown(part, filled_in(part.text, page_of)) for part in chapter.parts]
    return _render(
        frame,
        groups,
        chapter.path,
        title=f"fullgraph {chapter.command}" if chapter.command else chapter.title,
        heading=chapter.title,
        command=chapter.command,
        description=chapter.summary,
        parts=parts,
        contents=[],
    )


def _shown(part: ChapterPart, text: str) -> _Shown:
    if part.kind == "text":
        return _Shown("text", Markup(to_html(text)))
    if part.kind == "file":
        return _Shown("file", code_block(text), part.argument)
    if part.kind == "command":
        return _Shown("varies" if part.argument else "command", output_block(text))
    return _Shown("output", output_block(text))


def _document(frame: PageFrame, groups: list[_Group], document: Document, text: str) -> bytes:
    html, contents = document_html(text)
    return _render(
        frame,
        groups,
        document.path,
        title=document.title,
        heading=document.title,
        command="",
        description=document.summary[:160],
        parts=[_Shown("text", Markup(html))],
        contents=contents,
    )


def _render(frame: PageFrame, groups: list[_Group], path: str, **values: Any) -> bytes:
    links = [link for group in groups for link in group.links]
    place = next(index for index, link in enumerate(links) if link.path == path)
    return renderer(
        "manual_page.html",
        frame,
        path,
        kind="docs",
        groups=groups,
        root_path=root_of(path),
        before=links[place - 1] if place else None,
        after=links[place + 1] if place + 1 < len(links) else None,
        **values,
    )()
