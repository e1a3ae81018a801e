"""The page of a break as Markdown, for programs and for people who read in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.catalog.parse import Example
from fullgraph.site import labels as labels
from fullgraph.site.charts import history_text
from fullgraph.site.model import BreakPage
from fullgraph.site.placeholders import plain
from fullgraph.site.run_on import run_sentence


def markdown_path(identifier: str) -> str:
    """Return the path of the Markdown version of a page."""
    return f"gb/{identifier.lower()}.md"


def markdown_page(each: BreakPage, release: str) -> str:
    """Return the page as Markdown."""
    return "\n\n".join(part for part in _parts(each, release) if part) + "\n"


def _parts(each: BreakPage, release: str) -> Iterator[str]:
    page, example = each.page, each.example
    yield f"# {each.id}: {_line(page.type)}"
    if example:
        yield _line(example.how)
    yield from _facts(each, release)
    for shown in each.examples:
        yield from _example(shown, each)
    advice = [item.text for item in page.how_to_fix]
    if example and example.instead:
        advice.insert(0, example.instead)
    if advice:
        yield "## How to fix"
        yield "\n".join(f"{number}. {_line(text)}" for number, text in enumerate(advice, 1))
    if each.fixers:
        names = ", ".join(f"`{fixer.name}`" for fixer in each.fixers)
        yield f"`fullgraph fix` can do this in some cases: {names}."
    if page.explanation:
        yield "## Why it happens"
        yield plain(page.explanation.strip())
    if each.info and each.info.markdown.strip():
        yield "## Additional information"
        yield each.info.markdown.strip()
    yield "## History"
    yield history_text(each.history)
    if each.related:
        yield "## Related"
        yield "\n".join(
            f"- [{other.id}]({other.id.lower()}.md): {_line(other.type)} ({other.why})"
            for other in each.related
        )


def _facts(each: BreakPage, release: str) -> Iterator[str]:
    page = each.page
    lines = [f"- Status: {labels.status_sentence(each, release)}"]
    if page.category:
        lines.append(f"- Category: {page.category_title}")
        fixable = labels.fixable_sentence(page.fixable, page.cost)
        lines.append(f"- Can you fix it? {labels.capital(fixable)}.")
    yield "\n".join(lines)


def _example(example: Example, each: BreakPage) -> Iterator[str]:
    yield f"## Code that breaks{f': {example.title}' if each.variants else ''}"
    if example in each.variants:
        yield _line(example.how)
    yield _block(example.breaks)
    yield run_sentence(example, each.verdicts[example.key], each.history)
    for fix in example.fixes:
        safety = labels.SAFETY.get(fix.safety, fix.safety)
        yield f"## Code that works: {labels.KIND.get(fix.kind, fix.kind).lower()} ({safety})"
        if fix.why:
            yield _line(fix.why)
        yield _block(fix.source)


def _line(text: str) -> str:
    return " ".join(plain(text).split())


def _block(code: str) -> str:
    lines = code.strip("\n")
    fence = "```" if "```" not in lines else "~~~~"
    return f"{fence}python\n{lines}\n{fence}"
