"""A page for each category, and one that lists them."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from fullgraph.site.labels import FIXABLE, capital, fixable_sentence
from fullgraph.site.model import Break, CategoryPage, Site
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.templating import frame_of, renderer


def outputs(site: Site) -> Iterator[Output]:
    frame = frame_of(site)
    groups = groups_of(site)
    path = "categories/index.html"
    listed = [(category, *_counts(breaks)) for category, breaks in groups]
    values = {
        "kind": "category",
        "title": "Categories",
        "description": "Graph breaks by what kind of thing has to change.",
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


def _values(category: CategoryPage, breaks: list[Break]) -> dict[str, object]:
    return {
        "kind": "category",
        "title": capital(category.title),
        "description": category.advice,
        "category": category,
        "html": Markup(category.html),
        "breaks": breaks,
        "live": _counts(breaks)[0],
        "fixable": fixable_sentence(category.fixable, category.cost),
    }


def _shown(each: Break) -> tuple[str, str, str, bool, str]:
    """What a row in a list shows."""
    return (each.id, each.page.type, each.status, each.example is not None, each.page.fixable)


def _counts(breaks: list[Break]) -> tuple[int, int]:
    live = sum(each.status == "live" for each in breaks)
    return live, len(breaks) - live
