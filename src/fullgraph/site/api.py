"""Types of the JSON API; `docs/site.md` describes them.

Fields may be added under the same `format`; none is removed or changes its meaning.
"""

from __future__ import annotations

from msgspec import Struct

from fullgraph.catalog.parse import Example
from fullgraph.catalog.verdicts import Outcome
from fullgraph.registry.pages import Advice, EarlierWording, Place
from fullgraph.site.model import (
    BreakPage,
    Change,
    Related,
    Release,
    ReleaseMark,
    SiteData,
    Status,
    SweepCounts,
)

# The history of the format.
#   1  the first
#   2  ways_out is how_to_fix, seen is reports; unreleased is new, vanished is removed
FORMAT = 2


class BreakSummary(Struct, frozen=True):
    """A break in `api/index.json`."""

    id: str
    type: str
    status: Status
    # Empty if no text is available.
    category: str
    fixable: str
    first_release: str | None
    last_release: str | None
    gone_since: str | None
    has_example: bool
    has_additional_information: bool
    # Relative to the site.
    page: str
    api: str


class ReleaseSummary(Struct, frozen=True):
    """A release compared with the previous one; changes are lists of ids."""

    release: str
    before: str | None
    # ISO date; empty if unknown.
    date: str
    entries: int
    live: int
    new: tuple[str, ...]
    reworded: tuple[str, ...]
    retired: tuple[str, ...]
    revived: tuple[str, ...]
    removed: tuple[str, ...]


class CategorySummary(Struct, frozen=True):
    """A category and the ids of its breaks."""

    name: str
    title: str
    advice: str
    fixable: str
    cost: str
    breaks: tuple[str, ...]


class IndexFile(Struct, frozen=True):
    """`api/index.json`."""

    format: int
    # The registry that the texts come from.
    release: str
    checksum: str
    breaks: tuple[BreakSummary, ...]
    # Newest first.
    releases: tuple[ReleaseSummary, ...]
    # Unreleased changes since the newest release; null if the texts are from a release.
    upcoming: ReleaseSummary | None
    categories: tuple[CategorySummary, ...]


class FixText(Struct, frozen=True):
    """A fix of an example."""

    name: str
    kind: str
    safety: str
    why: str
    source: str


class ReleaseVerdict(Struct, frozen=True):
    """What an example did on one release."""

    release: str
    outcome: Outcome
    # The fixes that do not work there.
    fixes: tuple[str, ...]


class ExampleText(Struct, frozen=True):
    """The example of a break."""

    how: str
    breaks: str
    fixes: tuple[FixText, ...]
    instead: str
    eager_raises: bool
    # The first and the last release on which every claim of it was verified; empty if none.
    releases: tuple[str, str]
    # What it did on each release on which it was run, oldest first.
    verdicts: tuple[ReleaseVerdict, ...]
    # What tells the variants of a break apart; empty without variants.
    title: str


class AdditionalInformation(Struct, frozen=True):
    """Contributed information about a break."""

    markdown: str
    html: str
    # What is wrong with the file; empty if nothing.
    problem: str


class BreakFile(Struct, frozen=True):
    """`api/gb/GB0124.json`: everything on the page of a break."""

    format: int
    id: str
    type: str
    status: Status
    category: str
    category_title: str
    fixable: str
    cost: str
    eager_fails: bool
    explanation: str
    context: str
    hints: tuple[str, ...]
    how_to_fix: tuple[Advice, ...]
    first_release: str | None
    last_release: str | None
    gone_since: str | None
    history: tuple[ReleaseMark, ...]
    # The release that the texts and the call sites come from.
    release: str
    releases_of_wording: tuple[str, ...]
    earlier_wordings: tuple[EarlierWording, ...]
    call_sites: tuple[Place, ...]
    earlier_call_sites: tuple[Place, ...]
    example: ExampleText | None
    # The same break with other functions.
    variants: tuple[ExampleText, ...]
    unreachable: str
    related: tuple[Related, ...]
    reports: SweepCounts | None
    additional_information: AdditionalInformation | None
    missing: tuple[str, ...]
    page: str
    edit_link: str
    # The names of the fixers of `fullgraph fix`.
    fixers: tuple[str, ...]


def index_file(site: SiteData) -> IndexFile:
    """Return the content of `api/index.json`."""
    return IndexFile(
        format=FORMAT,
        release=site.release,
        checksum=site.checksum,
        breaks=tuple(map(_summary, site.breaks.values())),
        releases=tuple(map(_release, site.releases)),
        upcoming=_release(site.upcoming) if site.upcoming else None,
        categories=tuple(
            CategorySummary(
                name=each.name,
                title=each.title,
                advice=each.advice,
                fixable=each.fixable,
                cost=each.cost,
                breaks=each.breaks,
            )
            for each in site.categories
        ),
    )


def api_path(identifier: str) -> str:
    """Return the path of the JSON file of a break."""
    return f"api/gb/{identifier}.json"


def _release(each: Release) -> ReleaseSummary:
    return ReleaseSummary(
        release=each.release,
        before=each.before,
        date=each.date,
        entries=each.entries,
        live=each.live,
        new=_ids(each.new),
        reworded=_ids(each.reworded),
        retired=_ids(each.retired),
        revived=_ids(each.revived),
        removed=_ids(each.removed),
    )


def _ids(changes: tuple[Change, ...]) -> tuple[str, ...]:
    return tuple(change.id for change in changes)


def _summary(each: BreakPage) -> BreakSummary:
    page = each.page
    return BreakSummary(
        id=each.id,
        type=page.type,
        status=each.status,
        category=page.category,
        fixable=page.fixable,
        first_release=page.first_release,
        last_release=page.last_release,
        gone_since=page.gone_since,
        has_example=each.example is not None,
        has_additional_information=bool(each.info and each.info.html),
        page=each.path,
        api=api_path(each.id),
    )


def break_file(each: BreakPage) -> BreakFile:
    """Return the content of the JSON file of a break."""
    page, info = each.page, each.info
    return BreakFile(
        format=FORMAT,
        id=each.id,
        type=page.type,
        status=each.status,
        category=page.category,
        category_title=page.category_title,
        fixable=page.fixable,
        cost=page.cost,
        eager_fails=page.eager_fails,
        explanation=page.explanation,
        context=page.context,
        hints=page.hints,
        how_to_fix=page.how_to_fix,
        first_release=page.first_release,
        last_release=page.last_release,
        gone_since=page.gone_since,
        history=each.history,
        release=page.release,
        releases_of_wording=page.releases_of_wording,
        earlier_wordings=page.earlier_wordings,
        call_sites=page.call_sites,
        earlier_call_sites=page.earlier_call_sites,
        example=_example(each.example, each) if each.example else None,
        variants=tuple(_example(variant, each) for variant in each.variants),
        unreachable=each.unreachable,
        related=each.related,
        reports=each.sweep,
        additional_information=(
            AdditionalInformation(info.markdown, info.html, info.problem) if info else None
        ),
        missing=each.missing,
        page=each.path,
        edit_link=each.edit_link,
        fixers=tuple(fixer.name for fixer in each.fixers),
    )


def _example(example: Example, each: BreakPage) -> ExampleText:
    verdicts = each.verdicts[example.key]
    holds = [release for release, verdict in verdicts.items() if verdict.outcome == "holds"]
    return ExampleText(
        how=example.how,
        breaks=example.breaks,
        fixes=tuple(FixText(*fix) for fix in example.fixes),
        instead=example.instead,
        eager_raises=example.eager_raises,
        releases=(holds[0], holds[-1]) if holds else ("", ""),
        verdicts=tuple(
            ReleaseVerdict(release, verdict.outcome, verdict.fixes)
            for release, verdict in verdicts.items()
        ),
        title=example.title,
    )
