"""Puts a `Site` together: the registry, its history, the catalog, and what people added."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fullgraph.catalog.parse import Example, unreachable
from fullgraph.registry.entries import Snapshot
from fullgraph.registry.history import Chronicle, History
from fullgraph.registry.pages import shared_hints
from fullgraph.registry.releases import sort_key
from fullgraph.registry.sources import chronicle, with_texts
from fullgraph.registry.taxonomy import CATEGORIES
from fullgraph.site.changes import all_releases, upcoming_release
from fullgraph.site.entry_texts import Text, all_texts
from fullgraph.site.helper import Helper
from fullgraph.site.info import Added, edit_link, read_info
from fullgraph.site.memory import CATEGORY_HEADING, Renderings, all_examples
from fullgraph.site.model import (
    Break,
    CategoryPage,
    Mark,
    ReleaseMark,
    Settings,
    Site,
    Status,
)
from fullgraph.site.related import related_breaks
from fullgraph.site.sweep_reports import read_seen


def gather(
    snapshot: Snapshot,
    settings: Settings | None = None,
    info: Path | None = None,
    seen: Path | None = None,
) -> Site:
    """Everything that the pages show. `info` is a folder, `seen` a report or a folder of them."""
    settings = settings or Settings()
    helper = Helper()
    snapshot = with_texts(snapshot)
    story = chronicle([snapshot], only_final=True)
    texts = all_texts(snapshot, story)
    related = related_breaks(text.page for text in texts.values())
    counts = read_seen(seen) if seen else {}
    helper.wait()
    renderings = Renderings()
    examples = all_examples()
    added = read_info(info, texts, renderings) if info else Added()
    breaks = {}
    for identifier, text in texts.items():
        example = examples.get(identifier)
        own = added.infos.get(identifier)
        breaks[identifier] = Break(
            id=identifier,
            page=text.page,
            row=text.row,
            status=_status(identifier, snapshot, story),
            history=_marks(identifier, story),
            example=example,
            unreachable=unreachable().get(identifier, ""),
            related=related.get(identifier, ()),
            seen=counts.get(identifier),
            info=own,
            edit_link=edit_link(identifier, settings, own),
            missing=_missing(text, example, bool(own and own.html)),
        )
    categories = _categories(breaks.values(), renderings)
    renderings.save()
    return Site(
        settings=settings,
        release=snapshot.release,
        checksum=snapshot.checksum,
        origin=snapshot.origin,
        breaks=breaks,
        releases=all_releases(story, breaks, snapshot),
        categories=categories,
        shared_hints=frozenset(shared_hints(snapshot)),
        problems=added.problems,
        orphans=added.orphans,
        upcoming=upcoming_release(story, breaks, snapshot),
    )


def _status(identifier: str, snapshot: Snapshot, story: Chronicle) -> Status:
    history = story.history(identifier)
    if history is None:
        return "unreleased"
    if identifier not in snapshot.entries:
        return "later" if _is_later(history, snapshot) else "vanished"
    live = snapshot.is_live(identifier)
    if live is None:
        # A bare registry: the newest release tells what it can.
        newest = history.releases[-1]
        if newest.release != story.releases[-1]:
            return "unknown"
        live = newest.live
    return "live" if live else "retired"


def _is_later(history: History, snapshot: Snapshot) -> bool:
    """A registry without a number, such as `latest`, is newer than all releases."""
    chosen = sort_key(snapshot.release)
    return chosen[0] > 0 and sort_key(history.first_release) > chosen


def _marks(identifier: str, story: Chronicle) -> tuple[ReleaseMark, ...]:
    history = story.history(identifier)
    known = {each.release: each for each in history.releases} if history else {}
    marks = []
    for release in story.releases:
        status = known.get(release)
        mark: Mark = "absent" if status is None else "live" if status.live else "retired"
        marks.append(ReleaseMark(release, mark, bool(status and status.reworded)))
    return tuple(marks)


def _missing(text: Text, example: Example | None, has_info: bool) -> tuple[str, ...]:
    lacking = {
        "explanation": not text.page.explanation.strip(),
        "hints": not text.page.hints,
        "example": example is None,
        "additional information": not has_info,
    }
    return tuple(name for name, lacks in lacking.items() if lacks)


def _categories(breaks: Iterable[Break], renderings: Renderings) -> tuple[CategoryPage, ...]:
    members: dict[str, list[str]] = {}
    for each in breaks:
        members.setdefault(each.page.category, []).append(each.id)
    return tuple(
        CategoryPage(
            name=category.name,
            title=category.title,
            advice=category.advice,
            fixable=category.fixable,
            cost=category.cost,
            html=renderings(category.page, CATEGORY_HEADING),
            breaks=tuple(members.get(category.name, ())),
        )
        for category in CATEGORIES
    )
