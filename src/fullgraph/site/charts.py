"""Draw charts as inline SVG. Widths are percentages, so labels keep their size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from itertools import groupby

from markupsafe import Markup

from fullgraph.site.labels import listed, short
from fullgraph.site.model import Release, ReleaseMark

INTRODUCED, REWORDED, RETIRED = "●", "◆", "✕"
_GROWTH_HEIGHT = 200
# Space above the bars for numbers, and below them for releases.
_ABOVE, _BELOW = 22, 24


@cache
def history_chart(history: tuple[ReleaseMark, ...]) -> Markup:
    """Return the history of an entry: a bar that is filled in releases where it is live."""
    if not history:
        return Markup("")
    width = 100 / len(history)
    parts = list(_bands(history, width))
    # An entry of the oldest known release may be older, so it is not marked as introduced.
    for index, (before, mark) in enumerate(zip((history[0], *history), history, strict=False)):
        center = f"{(index + 0.5) * width:.4g}%"
        parts.append(f'<text class="label" x="{center}" y="54">{short(mark.release)}</text>')
        for sign in _signs(before, mark):
            parts.append(f'<text class="sign" x="{center}" y="13">{sign}</text>')
    return _svg("history", 60, "Releases that have this break", history_text(history), parts)


def _bands(history: Sequence[ReleaseMark], width: float) -> Iterable[str]:
    position = 0
    for mark, run in groupby(history, key=lambda each: each.mark):
        length = len(list(run))
        x, w = f"{position * width:.4g}%", f"{length * width:.4g}%"
        yield f'<rect class="{mark}" x="{x}" width="{w}" y="21" height="14" rx="3"/>'
        position += length


def _signs(before: ReleaseMark, mark: ReleaseMark) -> Iterable[str]:
    if before.mark == "absent" and mark.mark != "absent":
        yield INTRODUCED
    elif before.mark == "live" and mark.mark != "live":
        yield RETIRED
    elif mark.reworded:
        yield REWORDED


def history_text(history: Sequence[ReleaseMark]) -> str:
    """Return the history of an entry as sentences."""
    present = [each for each in history if each.mark != "absent"]
    if not present:
        return "No known release has it."
    first, newest = present[0].release, history[-1]
    oldest = f"In torch since {first} or longer" if first == history[0].release else ""
    sentences = [oldest or f"Introduced in {first}"]
    if reworded := [each.release for each in present if each.reworded]:
        sentences.append(f"reworded in {listed(reworded)}")
    live = [each.release for each in present if each.mark == "live"]
    if newest.mark == "live":
        sentences.append(f"live in {newest.release}, the newest release")
    elif live:
        sentences.append(f"last live in {live[-1]}")
    else:
        sentences.append("never live")
    if newest.mark == "absent":
        sentences.append(f"not in the registry of {newest.release}")
    return "; ".join(sentences) + "."


def growth_chart(releases: Sequence[Release]) -> Markup:
    """Return the live and retired entries per release; `releases` has the oldest first."""
    most = max((each.entries for each in releases), default=0) or 1
    slot = 100 / max(len(releases), 1)
    parts = []
    for index, each in enumerate(releases):
        x, w = f"{(index + 0.16) * slot:.4g}%", f"{0.68 * slot:.4g}%"
        center = f"{(index + 0.5) * slot:.4g}%"
        live, whole = (round(n / most * _GROWTH_HEIGHT) for n in (each.live, each.entries))
        top = _ABOVE + _GROWTH_HEIGHT - whole
        base = _ABOVE + _GROWTH_HEIGHT - live
        parts += [
            f'<rect class="retired" x="{x}" width="{w}" y="{top}" height="{whole - live}" rx="2"/>',
            f'<rect class="live" x="{x}" width="{w}" y="{base}" height="{live}" rx="2"/>',
            f'<text class="number" x="{center}" y="{top - 6}">{each.entries}</text>',
            f'<text class="label" x="{center}" y="{_ABOVE + _GROWTH_HEIGHT + 17}">'
            f"{short(each.release)}</text>",
        ]
    text = f"{releases[0].entries} entries in {releases[0].release}, " if releases else ""
    text += f"{releases[-1].entries} in {releases[-1].release}." if releases else ""
    height = _ABOVE + _GROWTH_HEIGHT + _BELOW
    return _svg("growth", height, "Entries in each release", text, parts)


def share_bar(live: int, other: int, most: int) -> Markup:
    """Return a small bar that illustrates two numbers."""
    first, second = (f"{100 * n / max(most, 1):.3g}%" for n in (live, other))
    return Markup(
        '<svg class="share" width="100%" height="12" aria-hidden="true">'
        f'<rect class="live" width="{first}" height="12" rx="2"/>'
        f'<rect class="retired" x="{first}" width="{second}" height="12" rx="2"/></svg>'
    )


def _svg(kind: str, height: int, title: str, text: str, parts: Iterable[str]) -> Markup:
    label = escape(f"{title}. {text}")
    return Markup(
        f'<svg class="chart {kind}" role="img" aria-label="{label}" width="100%" '
        f'height="{height}"><title>{escape(title)}</title><desc>{escape(text)}</desc>'
        f"{''.join(parts)}</svg>"
    )
