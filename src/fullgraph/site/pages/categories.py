"""One page per category, a list of them, and redirects from old names."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.registry.taxonomy import RENAMED
from fullgraph.site.labels import FIXABLE, capital, fixable_sentence
from fullgraph.site.model import BreakPage, CategoryPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.templating import PageFrame, frame_of, renderer


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)
    groups = groups_of(site)
    path = "categories/index.html"
    listed = [(category, *_counts(breaks)) for category, breaks in groups]
    values = {
        "kind": "category",
        "title": "Categories",
        "description": "Graph breaks by what you must change to fix them.",
        "categories": listed,
        "FIXABLE": FIXABLE,
    }
    yield Output(path, (frame, listed), renderer("categories.html", frame, path, **values))
    for category, breaks in groups:
        yield Output(
            category.path,
            (frame, category, [_shown(each) for each in breaks]),
            renderer("category.html", frame, category.path, **_values(category, breaks)),
        )

    titles = {category.name: category.title for category, _ in groups}
    for old, name in RENAMED.items():
        if name in titles:
            yield _redirect(frame, f"categories/{old}.html", f"{name}.html", titles[name])


def _redirect(frame: PageFrame, path: str, target: str, name: str) -> Output:
    """Return a page at the old URL of a renamed category."""
    values = {
        "kind": "category",
        "title": capital(name),
        "description": f"This page moved to {target}.",
        "target": target,
        "name": name,
    }
    return Output(path, (frame, target, name), renderer("moved.html", frame, path, **values))


def _values(category: CategoryPage, breaks: list[BreakPage]) -> dict[str, object]:
    return {
        "kind": "category",
        "title": capital(category.title),
        "description": category.advice,
        "category": category,
        "breaks": breaks,
        "current": [each for each in breaks if each.status == "live"],
        "others": [each for each in breaks if each.status != "live"],
        "live": _counts(breaks)[0],
        "fixable": fixable_sentence(category.fixable, category.cost),
    }


def _shown(each: BreakPage) -> tuple[str, str, str, bool, str, str]:
    """Return the facts in a row of a list."""
    has_example = each.example is not None
    return (each.id, each.page.type, each.status, has_example, each.page.fixable, each.marks)


def _counts(breaks: list[BreakPage]) -> tuple[int, int]:
    live = sum(each.status == "live" for each in breaks)
    return live, len(breaks) - live
