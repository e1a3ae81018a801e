"""Sentences about the releases of torch on which an example was run, and what it did there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullgraph.catalog.parse import Example
from fullgraph.catalog.verdicts import Verdict
from fullgraph.site.labels import listed, short
from fullgraph.site.model import BreakPage, ReleaseMark


def run_sentence(
    example: Example, verdicts: Mapping[str, Verdict], history: Sequence[ReleaseMark]
) -> str:
    """Return on which releases an example was run, and where it differs."""
    if not verdicts:
        return "It was not run on any release yet."
    marks = {each.release: each.mark for each in history}
    parts = [f"Run on torch {_names(verdicts)}."]
    groups: dict[str, list[str]] = {}
    for release, verdict in verdicts.items():
        said = _difference(example, verdict, marks.get(release, ""))
        groups.setdefault(said, []).append(release)
    agreeing = groups.pop("", [])
    if groups and agreeing:
        parts.append(f"It holds on {_names(agreeing)}.")
    parts += [f"On {_names(releases)}, {said}." for said, releases in groups.items()]
    if example.eager_raises:
        parts.append("The code that breaks also raises an error in eager mode.")
    return " ".join(parts)


def _names(releases: Sequence[str] | Mapping[str, object]) -> str:
    return listed([short(release) for release in releases])


def _difference(example: Example, verdict: Verdict, mark: str) -> str:
    """Return how a release differs from the page; empty if it does not."""
    if verdict.outcome == "holds":
        return ""
    if verdict.outcome == "fix_fails":
        if set(verdict.fixes) == {fix.name for fix in example.fixes}:
            return "it breaks in the same way, but the fix does not work"
        return f"it breaks in the same way, but {listed(_quoted(verdict.fixes))} does not work"
    if verdict.outcome == "differs":
        return "it breaks too, but not exactly as described here"
    if verdict.outcome == "not_run":
        return "it cannot be run, because torch lacks something that it uses"
    if verdict.outcome == "other_break":
        if mark == "absent":
            return "which does not have this break, it has another one"
        return "it has another break instead"
    if mark == "absent":
        return "which does not have this break, it compiles without one"
    return "it compiles without this break"


def _quoted(names: Sequence[str]) -> list[str]:
    return [f"`{name}`" for name in names]


def upgrade_sentence(each: BreakPage) -> str:
    """Return which release to upgrade to, if one is without the break; else empty."""
    verdicts = each.verdicts.get(each.example.key, {}) if each.example else {}
    newest = next(reversed(verdicts), "") if verdicts else ""
    outcome = verdicts[newest].outcome if newest else ""
    tried = f"On {short(newest)}, the example compiles without it." if outcome == "no_break" else ""
    if not each.page.gone_since:
        return tried and f"torch {short(newest)} can still raise this break. {tried}"
    sentence = f"torch {short(each.page.gone_since)} and later no longer raise this break."
    if outcome == "other_break":
        return f"{sentence} On {short(newest)}, the example has another break, though."
    return f"{sentence} {tried or 'The same code can have another break there.'}"
