"""Collect the data of a site: registry, history, catalog and contributed information."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fullgraph.catalog.parse import Example, read_example, read_variants, unreachable
from fullgraph.catalog.verdicts import verdicts_of
from fullgraph.fix.declarations import Declaration, declarations, serving_fixers
from fullgraph.fix.fixers._pages import fixer_pages
from fullgraph.guide.lesson import all_lessons
from fullgraph.registry.entries import Snapshot
from fullgraph.registry.history import EntryHistories, History
from fullgraph.registry.pages import shared_hints
from fullgraph.registry.releases import has_number, sort_key
from fullgraph.registry.sources import all_histories, with_texts
from fullgraph.registry.taxonomy import CATEGORIES
from fullgraph.site.changes import all_releases, upcoming_release
from fullgraph.site.entry_texts import Text, all_texts
from fullgraph.site.info import Added, edit_link, file_of, read_info
from fullgraph.site.model import (
    BreakPage,
    CategoryPage,
    FixerLink,
    Mark,
    ReleaseMark,
    Settings,
    SiteData,
    Status,
)
from fullgraph.site.related import related_breaks
from fullgraph.site.sweep_reports import read_sweep_reports


def gather(
    snapshot: Snapshot,
    settings: Settings | None = None,
    info: Path | None = None,
    reports: Path | None = None,
) -> SiteData:
    """Return everything that the pages show.

    `info` is a folder of additional information, `reports` a report or a folder of reports.
    """
    settings = settings or Settings()
    snapshot = with_texts(snapshot)
    histories = all_histories([snapshot], only_final=True)
    texts = all_texts(snapshot, histories)
    related = related_breaks(text.page for text in texts.values())
    counts = read_sweep_reports(reports) if reports else {}
    added = read_info(info, texts) if info else Added()
    breaks = {}
    for identifier, text in texts.items():
        example = read_example(identifier)
        variants = read_variants(identifier)
        shown = (*([example] if example else ()), *variants)
        own = added.infos.get(identifier)
        history = _marks(identifier, histories)
        fixable = text.page.fixable != "no"
        serving = serving_fixers(identifier, text.page.category, fixable=fixable)
        if serving.by_id and example:
            serving = serving.with_first(f"{text.page.type}\n{example.breaks}")
        breaks[identifier] = BreakPage(
            id=identifier,
            page=text.page,
            row=text.row,
            status=_status(identifier, snapshot, histories),
            history=history,
            marks="".join(each.mark[0] for each in history),
            example=example,
            variants=variants,
            verdicts={each.key: verdicts_of(each.key) for each in shown},
            unreachable=unreachable().get(identifier, ""),
            related=related.get(identifier, ()),
            sweep=counts.get(identifier),
            info=own,
            edit_link=edit_link(identifier, settings, own),
            info_file=f"{settings.info_path}/{own.file if own else file_of(identifier)}",
            missing=_missing(text, example, bool(own and own.html)),
            fixers=tuple(map(_link, serving.fixers)),
            fixers_by_id=serving.by_id,
        )
    return SiteData(
        settings=settings,
        release=snapshot.release,
        checksum=snapshot.checksum,
        origin=snapshot.origin,
        breaks=breaks,
        releases=all_releases(histories, breaks, snapshot),
        categories=_categories(breaks.values()),
        shared_hints=frozenset(shared_hints(snapshot)),
        problems=added.problems,
        orphans=added.orphans,
        upcoming=upcoming_release(histories, breaks, snapshot),
        fixers=fixer_pages(),
        lessons=all_lessons(),
    )


def _status(identifier: str, snapshot: Snapshot, histories: EntryHistories) -> Status:
    history = histories.history(identifier)
    if history is None:
        return "new"
    if identifier not in snapshot.entries:
        return "later" if _is_later(history, snapshot) else "removed"
    live = snapshot.is_live(identifier)
    if live is None:
        # Without source code, the newest release decides.
        newest = history.releases[-1]
        if newest.release != histories.releases[-1]:
            return "unknown"
        live = newest.live
    return "live" if live else "retired"


def _is_later(history: History, snapshot: Snapshot) -> bool:
    """Check whether an entry is newer than the registry; `latest` is newer than all releases."""
    chosen = snapshot.release
    return has_number(chosen) and sort_key(history.first_release) > sort_key(chosen)


def _marks(identifier: str, histories: EntryHistories) -> tuple[ReleaseMark, ...]:
    history = histories.history(identifier)
    known = {each.release: each for each in history.releases} if history else {}
    marks = []
    for release in histories.releases:
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


def _categories(breaks: Iterable[BreakPage]) -> tuple[CategoryPage, ...]:
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
            text=category.page,
            breaks=tuple(members.get(category.name, ())),
            fixers=_category_fixers(category.name, members.get(category.name, ())),
        )
        for category in CATEGORIES
    )


def _category_fixers(category: str, breaks: Iterable[str]) -> tuple[FixerLink, ...]:
    """Return the fixers that list a category or one of its breaks."""
    ids = set(breaks)
    return tuple(
        _link(each)
        for each in declarations()
        if category in each.categories or not ids.isdisjoint(each.ids)
    )


def _link(fixer: Declaration) -> FixerLink:
    return FixerLink(fixer.name, fixer.title)
