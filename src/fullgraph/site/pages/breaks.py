"""The page of a break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec.structs import replace

from fullgraph.catalog.parse import Example
from fullgraph.registry.message_templates import is_unevaluated_type
from fullgraph.site import labels as words
from fullgraph.site.charts import history_chart, history_text
from fullgraph.site.code_blocks import Pair, code_block, code_pair
from fullgraph.site.model import Break, Site
from fullgraph.site.pages import Output
from fullgraph.site.templating import Frame, frame_of, renderer

_Neighbour = tuple[str, str] | None


class _Way(NamedTuple):
    text: str
    source: str
    whose: str
    # Many entries share it, so it says little about this one.
    general: bool


class _Fix(NamedTuple):
    kind: str
    safety: str
    why: str
    pair: Pair


def outputs(site: Site) -> Iterator[Output]:
    frame = frame_of(site)
    breaks = [site.breaks[identifier] for identifier in sorted(site.breaks)]
    names: list[_Neighbour] = [(each.id, each.page.type) for each in breaks]
    for each, before, after in zip(breaks, [None, *names], [*names[1:], None], strict=False):
        general = tuple(hint in site.shared_hints for hint in each.page.hints)
        example = each.example.as_json() if each.example else None
        facts = (frame, replace(each, example=None), example, before, after, general)
        yield Output(each.path, facts, _render(each, frame, site, before, after))


def _render(
    each: Break, frame: Frame, site: Site, before: _Neighbour, after: _Neighbour
) -> Callable[[], bytes]:
    # What a page shows is only worked out when it is rendered.
    return lambda: renderer(
        "break.html", frame, each.path, **_values(each, site), before=before, after=after
    )()


def _values(each: Break, site: Site) -> dict[str, Any]:
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
        "status": words.status_sentence(each, site.release),
        "fixable": words.fixable_sentence(page.fixable, page.cost),
        "span": words.span_of(each),
        "ways": _ways(each, site.shared_hints),
        "pairs": _fixes(example),
        "alone": code_block(example.breaks) if example and not example.fixes else "",
        "proof": _proof(example),
        "no_example": _no_example(each),
        "info_html": Markup(each.info.html) if each.info else "",
        "chart": history_chart(each.history),
        "history": history_text(each.history),
        "places": page.call_sites or page.earlier_call_sites,
        "places_release": _places_release(each),
        "contents": _contents(each),
    }


def _description(each: Break, how: str) -> str:
    text = how or each.page.explanation or each.page.type
    return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " …"


def _ways(each: Break, shared: frozenset[str]) -> list[_Way]:
    ways = [
        _Way(way.text, way.source, words.WHOSE.get(way.source, way.source), way.text in shared)
        for way in each.page.ways_out
    ]
    instead = each.example.instead if each.example else ""
    if instead:
        ways.insert(0, _Way(instead, "fullgraph", words.WHOSE["fullgraph"], False))
    return ways


def _fixes(example: Example | None) -> list[_Fix]:
    return [
        _Fix(
            words.KIND.get(fix.kind, fix.kind),
            words.SAFETY.get(fix.safety, fix.safety),
            fix.why,
            code_pair(example.breaks, fix.source, fix.name),
        )
        for fix in (example.fixes if example else ())
        if example
    ]


def _no_example(each: Break) -> str:
    if each.unreachable:
        return f"There is no example: {each.unreachable.rstrip('.')}."
    if each.status == "retired":
        return "There is no example, because nothing raises it any more."
    return "There is no example of this break yet."


def _proof(example: Example | None) -> str:
    if example is None:
        return ""
    first, last = example.releases
    held = f"torch {first}" if first == last else f"torch {first} to {last}"
    what = "Example and fixes are" if example.fixes else "The example is"
    return f"{what} run by our tests; known to hold for {held}."


def _places_release(each: Break) -> str:
    if each.page.call_sites or not each.page.earlier_call_sites:
        return each.page.release
    return each.page.earlier_call_sites[0].link.partition("/blob/v")[2].partition("/")[0]


def _contents(each: Break) -> list[tuple[str, str]]:
    page = each.page
    fixes = bool(each.example and each.example.fixes)
    sections = [
        (page.explanation, "why", "Why it happens"),
        (page.ways_out, "ways", "Ways out"),
        (True, "example", "Example and fix" if fixes else "Example"),
        (each.info and (each.info.html or each.info.problem), "info", "Additional information"),
        (page.explanation or page.context or page.hints, "message", "What torch prints"),
        (True, "history", "History"),
        (page.call_sites or page.earlier_call_sites, "source", "Where torch raises it"),
        (each.seen, "seen", "Seen in"),
        (each.related, "related", "Related"),
    ]
    return [(anchor, name) for shown, anchor, name in sections if shown]
