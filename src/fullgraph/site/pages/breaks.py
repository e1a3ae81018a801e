"""The page of a break: the answer first, then why it happens, where it is raised and its history.

Nothing is said twice on a page. Only the message that torch prints is quoted as a whole, folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from markupsafe import Markup

from fullgraph.catalog.parse import Example, Fix
from fullgraph.site import labels as labels
from fullgraph.site.charts import history_chart, history_text
from fullgraph.site.code_blocks import Pair, code_block, code_pair
from fullgraph.site.markdown import to_html
from fullgraph.site.model import BreakPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.placeholders import plain
from fullgraph.site.run_on import run_sentence, upgrade_sentence
from fullgraph.site.templating import PageFrame, frame_of, prose, renderer

_Neighbor = tuple[str, str] | None
# How registry/pages.py joins the texts that torch chooses from.
_OR = "\nor: "
_MORE = re.compile(r"\n\((and \d+ more)\)$")


class _Fix(NamedTuple):
    kind: str
    safety: str
    why: str
    pair: Pair


class _Example(NamedTuple):
    """An example, or a variant of it, as it is shown."""

    anchor: str
    title: str
    how: str
    fixes: list[_Fix]
    # The code that breaks, if there is no fix beside it.
    alone: Markup
    # On which releases it was run, and what it did there.
    run: str


class _Way(NamedTuple):
    """One way to fix a break; the best one comes first."""

    kind: str
    label: str
    texts: tuple[str, ...] = ()
    fix: _Fix | None = None
    shows_code: bool = False


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield one page per break."""
    frame = frame_of(site)
    breaks = [site.breaks[identifier] for identifier in sorted(site.breaks)]
    names: list[_Neighbor] = [(each.id, each.page.type) for each in breaks]
    for each, before, after in zip(breaks, [None, *names], [*names[1:], None], strict=False):
        general = tuple(hint in site.shared_hints for hint in each.page.hints)
        marks = [_marks(other.id, site) for other in each.related]
        nature = _nature_of(each.page.category, site)
        facts = (frame, each.facts(), before, after, general, marks, nature)
        yield Output(each.path, facts, _render(each, frame, site, before, after))


def _render(
    each: BreakPage, frame: PageFrame, site: SiteData, before: _Neighbor, after: _Neighbor
) -> Callable[[], bytes]:
    # The values are computed only if the page is rendered.
    return lambda: renderer(
        "break.html", frame, each.path, **_values(each, site), before=before, after=after
    )()


def _values(each: BreakPage, site: SiteData) -> dict[str, Any]:
    page = each.page
    example = _shown(each.example, each) if each.example else None
    lead, own = _lead_and_why(each)
    nature = _nature_of(page.category, site)
    why = Markup("<p>{}</p>").format(prose(own)) if own else _html(nature)
    texts, more = _message_texts(each)
    ways = _ways(each, example, site.shared_hints)
    return {
        "kind": "break-page",
        "title": f"{page.id}: {plain(page.type)}",
        "description": _description(each, lead),
        "each": each,
        "page": page,
        "lead": lead,
        "example": example,
        "variants": [_shown(variant, each) for variant in each.variants],
        "fixes": ways,
        "why": why,
        "message_texts": texts,
        "more_texts": more,
        "earlier": [
            (_releases_of(old.releases), _message(old.type, old.explanation, old.hints))
            for old in page.earlier_wordings
        ],
        "status": labels.status_sentence(each, site.release),
        "fixable": labels.fixable_sentence(page.fixable, page.cost),
        "span": labels.span_of(each),
        "info_html": Markup(each.info.html) if each.info else "",
        "chart": history_chart(each.history),
        "history": history_text(each.history),
        "places": page.call_sites or page.earlier_call_sites,
        "places_release": _places_release(each),
        "related": [(other, _marks(other.id, site)) for other in each.related],
        "contents": _contents(each, has_ways=bool(ways), has_why=bool(why or (example and texts))),
    }


def _marks(identifier: str, site: SiteData) -> str:
    other = site.breaks.get(identifier)
    return other.marks if other else ""


def _description(each: BreakPage, lead: str) -> str:
    text = lead if each.example else plain(each.page.explanation) or lead
    return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " …"


def _lead_and_why(each: BreakPage) -> tuple[str, str]:
    """Return what the break is, in one sentence, and why it happens, if the example says so."""
    if each.example:
        return labels.first_sentence(each.example.how)
    if not each.worded:
        return "Only the history of this entry is known here; its text is in another registry.", ""
    if each.status == "retired":
        return labels.retired_sentence(each), ""
    return labels.no_example_sentence(each.unreachable), ""


def _nature_of(category: str, site: SiteData) -> str:
    """Return the first paragraph of the page of a category: why its breaks happen."""
    text = next((each.text for each in site.categories if each.name == category), "")
    paragraphs = [part for part in text.split("\n\n") if not part.lstrip().startswith("#")]
    return paragraphs[0] if paragraphs else ""


@cache
def _html(text: str) -> Markup:
    # Many breaks share the text of a category.
    return Markup(to_html(text))


def _shown(example: Example, each: BreakPage) -> _Example:
    return _Example(
        anchor=example.key.lower().replace("_", "-") if "_" in example.key else "example",
        title=example.title,
        how=" ".join(example.how.split()),
        fixes=[_shown_fix(example, fix) for fix in example.fixes],
        alone=code_block(example.breaks),
        run=run_sentence(example, each.verdicts[example.key], each.history),
    )


def _shown_fix(example: Example, fix: Fix) -> _Fix:
    return _Fix(
        labels.KIND.get(fix.kind, fix.kind),
        labels.SAFETY.get(fix.safety, fix.safety),
        fix.why,
        code_pair(example.breaks, fix.source, fix.name),
    )


def _ways(each: BreakPage, example: _Example | None, shared: frozenset[str]) -> list[_Way]:
    """Return the ways to fix a break: the surest first, the most general last."""
    ways = []
    if upgrade := upgrade_sentence(each):
        ways.append(_Way("upgrade", "Upgrade torch", (upgrade,)))
    for index, fix in enumerate(example.fixes if example else ()):
        ways.append(_Way("verified", "Verified fix", fix=fix, shows_code=index > 0))
    if each.example and each.example.instead:
        lead = () if each.example.fixes else ("You cannot fix this in your own code.",)
        ways.append(_Way("instead", "Instead", (*lead, each.example.instead)))
    if each.fixers and each.fixers_by_id:
        ways.append(_Way("fixers", "Automatic"))
    advice = each.page.how_to_fix
    hints = tuple(item.text for item in advice if item.source == "torch")
    # Without an example, the message itself is on top of the page, with its hints.
    specific = tuple(hint for hint in hints if hint not in shared)
    if specific and example:
        label = "torch’s hint" if len(specific) == 1 else "torch’s hints"
        ways.append(_Way("hint", label, specific))
    if general := tuple(item.text for item in advice if item.source == "fullgraph"):
        ways.append(_Way("category", "In general", general))
    if each.fixers and not each.fixers_by_id:
        ways.append(_Way("fixers", "Automatic"))
    return ways


def _message_texts(each: BreakPage) -> tuple[list[str], str]:
    """Return the messages that torch can print, and how many more there are in words."""
    page = each.page
    if not (page.explanation or page.context or page.hints):
        return [], ""
    more = _MORE.search(page.explanation)
    explanations = _MORE.sub("", page.explanation).split(_OR)
    # Where torch chooses the explanation at run time, it chooses the hints too.
    texts = [_message(page.type, explanation, ()) for explanation in explanations[:-1]]
    texts.append(_message(page.type, explanations[-1], page.hints, page.context))
    return texts, more[1].capitalize() + "." if more else ""


def _message(type_: str, explanation: str, hints: tuple[str, ...], context: str = "") -> str:
    """Return a message in the form in which torch prints it."""
    lines = [type_]
    if explanation:
        lines.append(f"  Explanation: {_indented(explanation)}")
    lines += [f"  Hint: {_indented(hint)}" for hint in hints]
    if context:
        lines += ["", f"  Developer debug context: {_indented(context)}"]
    return "\n".join(lines) + "\n"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _releases_of(releases: tuple[str, ...]) -> str:
    names = labels.listed([labels.short(release) for release in releases])
    return f"In torch {names}" if releases else "In no known release"


def _places_release(each: BreakPage) -> str:
    if each.page.call_sites or not each.page.earlier_call_sites:
        return each.page.release
    return each.page.earlier_call_sites[0].link.partition("/blob/v")[2].partition("/")[0]


def _contents(each: BreakPage, *, has_ways: bool, has_why: bool) -> list[tuple[str, str]]:
    page = each.page
    sections = [
        (True, "example", "Example" if each.example else "Message"),
        (has_ways, "fix", "How to fix"),
        (each.variants, "variants", "Other functions"),
        (each.info, "info", "Additional information"),
        (has_why, "why", "Why it happens"),
        (page.call_sites or page.earlier_call_sites, "source", "Where torch raises it"),
        (True, "history", "History"),
        (each.sweep, "programs", "Affected programs"),
        (each.related, "related", "Related"),
        (not each.info, "info", "Additional information"),
    ]
    return [(anchor, name) for shown, anchor, name in sections if shown]
