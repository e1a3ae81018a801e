"""One page per fixer of `fullgraph fix`, and a list of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

from markupsafe import Markup

from fullgraph.fix.fixers._cases import Case
from fullgraph.fix.fixers._pages import FixerPage
from fullgraph.model.fix_kinds import Kind
from fullgraph.site.code_blocks import code_block, diff_block, pair_size
from fullgraph.site.labels import KIND, SAFETY, capital
from fullgraph.site.model import SiteData, fixer_path
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.templating import frame_of, renderer

_INDEX = "fixes/index.html"


class _Example(NamedTuple):
    case: Case
    program: Markup
    # None if the fixer declines.
    diff: Markup | None
    # Of both blocks: see `pair_size`.
    size: str


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)
    values = {
        "kind": "fixer",
        "title": "Fixes",
        "description": "The fixes that fullgraph fix finds and verifies.",
        "groups": _groups(site.fixers),
        "SAFETY": SAFETY,
    }
    yield Output(_INDEX, (frame, site.fixers), renderer("fixers.html", frame, _INDEX, **values))
    # A category without breaks has no page.
    titles = {category.name: category.title for category, _ in groups_of(site)}
    for fixer in site.fixers:
        path = fixer_path(fixer.name)
        breaks = [site.breaks[each] for each in fixer.ids if each in site.breaks]
        categories = [(each, titles[each]) for each in fixer.categories if each in titles]
        shown = [(each.id, each.page.type, each.status, each.marks) for each in breaks]
        values = _values(fixer) | {"breaks": breaks, "categories": categories}
        yield Output(
            path,
            (frame, fixer, shown, categories),
            renderer("fixer.html", frame, path, **values),
        )


def _groups(fixers: tuple[FixerPage, ...]) -> list[tuple[str, list[FixerPage]]]:
    """Return the fixers by kind, in the order in which `fullgraph fix` tries the kinds."""
    groups = [(kind, [each for each in fixers if each.kind == kind]) for kind in get_args(Kind)]
    return [(KIND[kind], members) for kind, members in groups if members]


def _values(fixer: FixerPage) -> dict[str, Any]:
    title = capital(fixer.title)
    return {
        "kind": "fixer",
        "title": title.replace("`", ""),
        "heading": title,
        "description": fixer.summary,
        "fixer": fixer,
        "kind_label": KIND[fixer.kind],
        "safety_label": SAFETY[fixer.safety],
        "sections": [(_anchor(heading), heading, text) for heading, text in fixer.sections],
        "examples": [_example(case) for case in fixer.examples],
    }


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _example(case: Case) -> _Example:
    diff = diff_block(case.diff) if case.diff else None
    return _Example(case, code_block(case.code), diff, pair_size(case.code, case.diff or ""))
