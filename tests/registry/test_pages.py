"""Everything about an entry, put together from a registry and the histories of all releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from fullgraph.errors import RegistryError
from fullgraph.registry import cache, pages, sources
from fullgraph.registry.entries import CallSite, Snapshot, SourceText, Wording
from fullgraph.registry.history import EntryHistories, facts_of
from fullgraph.registry.pages import Library, page, row, rows, shared_hints

TYPE = "Data-dependent branching on {thing}"
NEWEST = Wording(TYPE, "{thing}", "It branches on {thing}.", ("See the docs. ", "Use where."))
EARLIER = Wording("Data-dependent jump", "", "It jumps.", ("Use cond.",))
SITE, MOVED = CallSite("torch/_dynamo/x.py", 3, "f"), CallSite("torch/_dynamo/y.py", 7, "g")
COMMON = {
    f"GB1{number:03}": (Wording("Other", "", "O.", ("See the docs.",)),) for number in range(7)
}
OLD = Snapshot("2.9.0", {"GB0001": (EARLIER,)}, {"GB0001": (SITE,)}, origin="old")
NEW = Snapshot(
    "2.10.0", {"GB0001": (NEWEST, EARLIER, NEWEST, EARLIER), **COMMON},
    {"GB0001": (SITE, MOVED)}, origin="new",
)  # fmt: skip
HISTORIES = EntryHistories(facts_of(each) for each in (OLD, NEW))


def test_a_page_has_every_fact_of_the_entry() -> None:
    found = page("GB0001", NEW, HISTORIES, NEW)
    assert (found.id, found.type) == ("GB0001", "Data-dependent branching on ‹thing›")
    assert (found.category, found.fixable) == ("data-dependent", "yes")
    assert (found.live, found.installed, found.release) == (True, "2.10.0", "2.10.0")
    assert (found.first_release, found.last_release, found.gone_since) == ("2.9.0", "2.10.0", None)
    assert (found.explanation, found.context) == ("It branches on ‹thing›.", "‹thing›")
    assert found.hints == ("See the docs.", "Use where.")
    assert [status.release for status in found.releases] == ["2.9.0", "2.10.0"]
    assert found.releases_of_wording == ("2.10.0",)
    # Each earlier wording once, and not the newest, which came back.
    (earlier,) = found.earlier_wordings
    assert (earlier.type, earlier.explanation) == ("Data-dependent jump", "It jumps.")
    assert (earlier.hints, earlier.releases) == (("Use cond.",), ("2.9.0",))
    assert [(place.file, place.line, place.function) for place in found.call_sites] == [
        ("torch/_dynamo/x.py", 3, "f"), ("torch/_dynamo/y.py", 7, "g"),
    ]  # fmt: skip
    assert found.call_sites[0].link == SITE.link("2.10.0")
    assert found.earlier_call_sites == ()
    assert found.link.endswith("/gb0001.html")


def test_advice_comes_first_and_hints_that_many_entries_share_last() -> None:
    assert shared_hints(NEW) == {"See the docs."}
    found = page("GB0001", NEW, HISTORIES, NEW)
    ours, *torchs = found.how_to_fix
    assert (ours.source, [advice.text for advice in torchs]) == (
        "fullgraph",
        ["Use where.", "See the docs."],
    )
    assert {advice.source for advice in torchs} == {"torch"}
    one_less = replace(NEW, entries={key: NEW.entries[key] for key in [*NEW.entries][:-1]})
    assert shared_hints(one_less) == set()


def test_an_entry_that_is_raised_no_more_shows_where_it_was() -> None:
    newest = replace(NEW, release="2.11.0", sites={})
    histories = EntryHistories(facts_of(each) for each in (OLD, NEW, newest))
    found = page("GB0001", newest, histories, newest)
    assert (found.live, found.last_release, found.gone_since) == (False, "2.10.0", "2.11.0")
    assert found.call_sites == ()
    assert [place.link for place in found.earlier_call_sites] == [
        SITE.link("2.10.0"),
        MOVED.link("2.10.0"),
    ]


def test_without_a_torch_nothing_is_said_about_it() -> None:
    found = page("GB0001", OLD, EntryHistories([]), None)
    assert (found.live, found.installed, found.first_release) == (None, None, None)
    assert found.releases == found.releases_of_wording == ()


def test_a_variable_as_explanation_shows_the_texts_that_it_can_hold() -> None:
    def shown(*texts: str) -> str:
        wording = Wording("Same", "", "msg", ())
        added = {"GB0001": SourceText(explanations=texts, hints=("From the source.",))}
        found = page("GB0001", Snapshot("2.9.0", {"GB0001": (wording,)}, {}, (), added),
                     EntryHistories([]), None)  # fmt: skip
        assert found.hints == ("From the source.",)
        return found.explanation

    assert shown() == "‹message›"
    assert shown("One.") == "One."
    assert shown("1", "2", "3", "4") == "1\nor: 2\nor: 3\nor: 4"
    assert shown("1", "2", "3", "4", "5", "6") == "1\nor: 2\nor: 3\nor: 4\n(and 2 more)"


def test_a_row_counts_hints_call_sites_and_wordings() -> None:
    found = row("GB0001", NEW, HISTORIES)
    assert (found.hints, found.call_sites, found.wordings) == (2, 2, 4)
    assert (found.live, found.first_release, found.last_release) == (True, "2.9.0", "2.10.0")
    assert found.category == "data-dependent"
    assert [each.id for each in rows(NEW, HISTORIES)] == sorted(NEW.entries)
    bare = row("GB0001", replace(NEW, sites=None), EntryHistories([]))
    assert (bare.live, bare.call_sites, bare.first_release) == (None, 0, None)


def stored(*snapshots: Snapshot) -> None:
    for each in snapshots:
        cache.store(each.release, cache.Cached(each, 0.0))


def test_the_library_prefers_the_installed_torch_then_the_newest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "installed_snapshot", lambda: None)
    monkeypatch.setattr(sources, "torch_folder", lambda: None)
    with pytest.raises(RegistryError, match="no registry is available"):
        _ = Library().main
    only_old = Snapshot("2.9.1", {"GB0009": (EARLIER,)}, {"GB0009": (SITE,)})
    stored(OLD, only_old, replace(NEW, release="2.10.0"))
    library = Library()
    assert [each.release for each in library.others] == ["2.10.0", "2.9.1", "2.9.0"]
    assert library.main.release == "2.10.0"
    assert library.page("GB0001").release == "2.10.0"
    # An entry that the main registry lacks is taken from another one.
    assert library.page("GB0009").release == "2.9.1"
    assert library.page("GB0009").live is None
    monkeypatch.setattr(pages, "installed_snapshot", lambda: OLD)
    library = Library()
    assert library.main == OLD
    assert [each.release for each in library.others] == ["2.10.0", "2.9.1"]


def test_an_unknown_id_names_the_release_that_has_it_or_ids_like_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = {f"GB012{number}": (EARLIER,) for number in range(4)} | {"GB0124": (NEWEST,)}
    monkeypatch.setattr(pages, "installed_snapshot", lambda: Snapshot("2.8.0", entries, {}))
    library = Library()

    def said(identifier: str) -> str:
        with pytest.raises(RegistryError) as raised:
            library.page(identifier)
        return str(raised.value)

    # Packaged facts know it, without its text.
    assert said("GB0377") == (
        "GB0377 is new in torch 2.14.0 and not in yours; download its text with "
        "fullgraph registry sync --releases 2.15.0"
    )
    # The three nearest ones, the best first.
    assert said("GB9124") == (
        "no known release has GB9124; the nearest are "
        "GB0124 (Data-dependent branching on ‹thing›), "
        "GB0123 (Data-dependent jump), GB0122 (Data-dependent jump)"
    )
    assert said("XYZ") == "no known release has XYZ"
