"""The pages of breaks as Markdown, and `llms.txt`, which lists them for language models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fullgraph.site.labels import capital, named
from fullgraph.site.markdown_page import markdown_page, markdown_path
from fullgraph.site.model import BreakPage, SiteData, lesson_path
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.placeholders import plain


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the files."""
    for each in site.breaks.values():
        facts = (site.release, each.facts())
        yield Output(markdown_path(each.id), facts, partial(_page, each, site.release))
    text = _llms(site)
    yield Output("llms.txt", text, text.encode)


def _page(each: BreakPage, release: str) -> bytes:
    return markdown_page(each, release).encode()


def _llms(site: SiteData) -> str:
    """Return a list of the site's content in the form that llmstxt.org describes."""
    address = site.settings.address
    lines = [
        f"# {site.settings.title}",
        "",
        "> Every graph break of torch.compile: what it means, code that breaks, code that works, "
        f"and how to fix it. The texts are from {named(site.release)}.",
        "",
        "A message of torch links to a break by its id, such as GB0170. Each break is a Markdown "
        "file; `api/index.json` has all of them as JSON.",
        "",
        "## Guide",
        "",
        *(
            f"- [{lesson.title}]({address}{lesson_path(lesson.id)}): {lesson.summary}"
            for lesson in site.lessons
        ),
        "",
    ]
    for category, breaks in groups_of(site):
        lines += [f"## {capital(category.title)}", "", category.advice, ""]
        lines += [
            f"- [{each.id}]({address}{markdown_path(each.id)}): {plain(each.page.type)}"
            for each in breaks
            if each.status in ("live", "new")
        ]
        lines.append("")
    return "\n".join(lines)
