"""The page of a break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec.structs import replace

from fullgraph.catalog.parse import Example
from fullgraph.registry.message_templates import is_unevaluated_type
from fullgraph.site import labels as labels
from fullgraph.site.charts import history_chart, history_text
from fullgraph.site.code_blocks import Pair, code_block, code_pair
from fullgraph.site.model import BreakPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import PageFrame, frame_of, renderer

_Neighbor = tuple[str, str] | None


class _Advice(NamedTuple):
    text: str
    source: str
    label: str
    # True if many entries share it.
    general: bool


class _Fix(NamedTuple):
    kind: str
    safety: str
    why: str
    pair: Pair


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield one page per break."""
    frame = frame_of(site)
    breaks = [site.breaks[identifier] for identifier in sorted(site.breaks)]
    names: list[_Neighbor] = [(each.id, each.page.type) for each in breaks]
    for each, before, after in zip(breaks, [None, *names], [*names[1:], None], strict=False):
        general = tuple(hint in site.shared_hints for hint in each.page.hints)
        example = each.example.as_json() if each.example else None
        facts = (frame, replace(each, example=None), example, before, after, general)
        yield Output(each.path, facts, _render(each, frame, site, before, after))


def _render(
    each: BreakPage, frame: PageFrame, site: SiteData, before: _Neighbor, after: _Neighbor
) -> Callable[[], bytes]:
    # The values are computed only if the page is rendered.
    return lambda: renderer(
        "break.html", frame, each.path, **_values(each, site), before=before, after=after
    )()


def _values(each: BreakPage, site: SiteData) -> dict[str, Any]:
    page, example = each.page, each.example
    how = " ".join(example.how.split()) if example else ""
    return {
        "kind": "break-page",
        "title": f"{page.id}: {page.type}",
        "description": _description(each, how),
        "each": each,
        "page": page,
        "how": how,
        "unknown_why": is_unevaluated_type(page.explanation),
        "status": labels.status_sentence(each, site.release),
        "fixable": labels.fixable_sentence(page.fixable, page.cost),
        "span": labels.span_of(each),
        "advice": _advice(each, site.shared_hints),
        "pairs": _fixes(example),
        "alone": code_block(example.breaks) if example and not example.fixes else "",
        "verification": _verification(example),
        "no_example": _no_example(each),
        "info_html": Markup(each.info.html) if each.info else "",
        "chart": history_chart(each.history),
        "history": history_text(each.history),
        "places": page.call_sites or page.earlier_call_sites,
        "places_release": _places_release(each),
        "contents": _contents(each),
    }


def _description(each: BreakPage, how: str) -> str:
    text = how or each.page.explanation or each.page.type
    return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " …"


def _advice(each: BreakPage, shared: frozenset[str]) -> list[_Advice]:
    found = [
        _Advice(item.text, item.source, labels.SOURCE.get(item.source, ""), item.text in shared)
        for item in each.page.how_to_fix
    ]
    instead = each.example.instead if each.example else ""
    if instead:
        found.insert(0, _Advice(instead, "fullgraph", labels.SOURCE["fullgraph"], False))
    return found


def _fixes(example: Example | None) -> list[_Fix]:
    return [
        _Fix(
            labels.KIND.get(fix.kind, fix.kind),
            labels.SAFETY.get(fix.safety, fix.safety),
            fix.why,
            code_pair(example.breaks, fix.source, fix.name),
        )
        for fix in (example.fixes if example else ())
        if example
    ]


def _no_example(each: BreakPage) -> str:
    if each.unreachable:
        return f"There is no example: {each.unreachable.rstrip('.')}."
    if each.status == "retired":
        return "There is no example, because torch no longer raises it."
    return "There is no example of this break yet."


def _verification(example: Example | None) -> str:
    if example is None:
        return ""
    first, last = example.releases
    releases = f"torch {first}" if first == last else f"torch {first} to {last}"
    what = "Example and fixes are" if example.fixes else "The example is"
    return f"{what} run by our tests; verified on {releases}."


def _places_release(each: BreakPage) -> str:
    if each.page.call_sites or not each.page.earlier_call_sites:
        return each.page.release
    return each.page.earlier_call_sites[0].link.partition("/blob/v")[2].partition("/")[0]


def _contents(each: BreakPage) -> list[tuple[str, str]]:
    page = each.page
    fixes = bool(each.example and each.example.fixes)
    sections = [
        (page.explanation, "why", "Why it happens"),
        (page.how_to_fix or each.fixers, "fix", "How to fix"),
        (True, "example", "Example and fix" if fixes else "Example"),
        (True, "info", "Additional information"),
        (page.explanation or page.context or page.hints, "message", "What torch prints"),
        (True, "history", "History"),
        (page.call_sites or page.earlier_call_sites, "source", "Where torch raises it"),
        (each.sweep, "programs", "Affected programs"),
        (each.related, "related", "Related"),
    ]
    return [(anchor, name) for shown, anchor, name in sections if shown]
