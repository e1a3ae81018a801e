"""What the pages call things. One place, so that all pages say the same."""

from __future__ import annotations

from fullgraph.registry.releases import sort_key
from fullgraph.render.entry._page import COSTS
from fullgraph.site.model import Break, Status

STATUS: dict[Status, str] = {
    "live": "live",
    "retired": "retired",
    "unreleased": "new",
    "later": "later",
    "vanished": "removed",
    "unknown": "unknown",
}
FIXABLE = {"yes": "yes", "sometimes": "sometimes", "no": "not by you"}
KIND = {
    "rewrite": "Rewrite it",
    "move": "Move it out",
    "setting": "Change a setting",
    "escape": "Hide it from Dynamo",
}
SAFETY = {
    "exact": "same result, bit for bit",
    "equal": "same result, up to rounding",
    "reordered": "effects come later",
    "dropped": "effects are left out while compiled",
    "narrower": "holds only where the text says",
}
WHOSE = {"fullgraph": "our advice", "torch": "torch’s hint"}


def named(release: str) -> str:
    """`torch 2.15.0`; a registry that has no number has another name, such as `latest`."""
    return f"torch {release}" if sort_key(release)[0] else f"torch ({release})"


def fixable_sentence(fixable: str, cost: str) -> str:
    """Whether a reader can do something about it, and what that takes."""
    answer = FIXABLE.get(fixable, fixable)
    with_what = {"yes": "usually with", "sometimes": "then with"}.get(fixable)
    return f"{answer}, {with_what} {COSTS.get(cost, cost)}" if with_what and cost else answer


def status_sentence(each: Break, release: str) -> str:
    """What the status means for someone who reads about this break."""
    page = each.page
    if each.status == "live":
        if page.live is None:  # a bare registry: the newest release told
            return f"torch {each.history[-1].release}, the newest release, can raise it."
        return f"{named(release)} can raise it."
    if each.status == "retired":
        since = f" since {page.gone_since}" if page.gone_since else ""
        return f"No code of torch raises it any more{since}."
    if each.status == "unreleased":
        return "No release that is known has it yet."
    if each.status == "later":
        return f"It came with torch {page.first_release}; {named(release)} does not have it."
    if each.status == "vanished":
        last = page.last_release or page.first_release
        return f"The registry has dropped it; torch {last} still had it." if last else "It is gone."
    return "The source came without torch’s code, so nobody can say whether it is raised."


def span_of(each: Break) -> str:
    """`2.8 – 2.12`: the releases in which it could be met."""
    first, last = each.page.first_release, each.page.last_release
    if not first:
        return "not released"
    if each.page.gone_since and last:
        return short(first) if first == last else f"{short(first)} – {short(last)}"
    return f"since {short(first)}"


def short(release: str) -> str:
    """`2.15.0` as people say it."""
    return release.removesuffix(".0") if release.count(".") == 2 else release


def capital(text: str) -> str:
    """Only the first letter: `str.capitalize` would change all others."""
    return text[:1].upper() + text[1:]


def count(number: int, thing: str, things: str = "") -> str:
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def listed(items: list[str]) -> str:
    """`a, b and c`."""
    *most, last = items or [""]
    return f"{', '.join(most)} and {last}" if most else last
