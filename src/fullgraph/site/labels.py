"""Labels and sentences that several pages use."""

from __future__ import annotations

import re

from fullgraph.registry.pages import COSTS
from fullgraph.registry.releases import has_number
from fullgraph.site.model import BreakPage, Status

STATUS: dict[Status, str] = {
    "live": "live",
    "retired": "retired",
    "new": "new",
    "later": "later",
    "removed": "removed",
    "unknown": "unknown",
}
FIXABLE = {"yes": "yes", "sometimes": "sometimes", "no": "not by you"}
KIND = {
    "rewrite": "Rewrite the code",
    "move": "Move the code",
    "setting": "Change a setting",
    "guard": "Guard a value",
    "escape": "Use an escape hatch",
    "mitigate": "Reduce the cost of a break",
}
SAFETY = {
    "exact": "same result, bit for bit",
    "specialized": "same result, bit for bit; a new value recompiles",
    "equal": "same result, up to rounding",
    "other_exception": "same result, bit for bit; compiled code may raise another exception type",
    "reordered": "output is printed after the graph has run",
    "dropped": "output is dropped in compiled code",
    "narrower": "correct only for the inputs named in the text",
}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`‹])")


def named(release: str) -> str:
    """Return `torch 2.15.0`, or `torch (latest)` for a registry without a number."""
    return f"torch {release}" if has_number(release) else f"torch ({release})"


def fixable_sentence(fixable: str, cost: str) -> str:
    """Return whether a user can fix a break, and at what cost."""
    answer = FIXABLE.get(fixable, fixable)
    with_what = {"yes": "usually with", "sometimes": "then with"}.get(fixable)
    return f"{answer}, {with_what} {COSTS.get(cost, cost)}" if with_what and cost else answer


def status_sentence(each: BreakPage, release: str) -> str:
    """Return a sentence that explains the status of a break."""
    page = each.page
    if each.status == "live":
        if page.live is None:  # without source code, the newest release decides
            return f"torch {each.history[-1].release}, the newest release, can raise it."
        return f"{named(release)} can raise it."
    if each.status == "retired":
        return retired_sentence(each)
    if each.status == "new":
        return "No known release has it yet."
    if each.status == "later":
        return f"It is new in torch {page.first_release}; {named(release)} does not have it."
    if each.status == "removed":
        last = page.last_release or page.first_release
        return f"Removed from the registry; torch {last} still has it." if last else "Removed."
    return "Unknown: torch’s source code was not available."


def sentence(each: BreakPage) -> str:
    """Return what a break is, in one sentence: how our example meets it, or torch's explanation."""
    return first_sentence(each.example.how if each.example else each.page.explanation)[0]


def first_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the rest."""
    first, *rest = _SENTENCE_END.split(" ".join(text.split()), maxsplit=1)
    return first, " ".join(rest)


def retired_sentence(each: BreakPage) -> str:
    """Return since when torch no longer raises a break."""
    since = f" since {each.page.gone_since}" if each.page.gone_since else ""
    return f"torch no longer raises it{since}."


def no_example_sentence(reason: str) -> str:
    """Return why there is no example, from the reason in `catalog/unreachable.toml`."""
    kind, _, why = reason.rstrip(".").partition(": ")
    if not reason:
        return "There is no example of this break yet."
    if kind.startswith("needs "):
        return f"It {kind}: {why}." if why else f"It {kind}."
    if kind == "internal":
        return f"It is internal to Dynamo: {why}."
    if kind == "unreachable":
        return f"No program can cause it: {why}."
    if kind == "unreachable as a break":
        return f"It is never reported as a break: {why}."
    return f"No program is known to cause it: {why}."


def span_of(each: BreakPage) -> str:
    """Return the releases that can raise a break, such as `2.8 – 2.12`."""
    first, last = each.page.first_release, each.page.last_release
    if not first:
        return "not released"
    if each.page.gone_since and last:
        return short(first) if first == last else f"{short(first)} – {short(last)}"
    return f"since {short(first)}"


def short(release: str) -> str:
    """Return `2.15.0` as `2.15`."""
    return release.removesuffix(".0") if release.count(".") == 2 else release


def capital(text: str) -> str:
    """Return the text with its first letter in upper case and all others unchanged."""
    return text[:1].upper() + text[1:]


def count(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, such as `2 programs`."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def listed(items: list[str]) -> str:
    """Return items as `a, b and c`."""
    *most, last = items or [""]
    return f"{', '.join(most)} and {last}" if most else last
