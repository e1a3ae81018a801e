from __future__ import annotations

from fullgraph.registry.entries import CallSite, Snapshot, read_registry
from fullgraph.registry.history import (
    FACTS_FOLDER,
    EntryHistories,
    facts_file,
    facts_of,
    known_facts,
)
from fullgraph.registry.pages import page_without_text
from fullgraph.registry.releases import sort_key
from tests.registry.fake_torch import registry_bytes

ENTRIES = read_registry(registry_bytes(), "here")
SITE = CallSite("torch/_dynamo/x.py", 3, "f")


def snapshot(release: str, *live: str, without: str = "", swap: bool = False) -> Snapshot:
    entries = {name: wordings for name, wordings in ENTRIES.items() if name != without}
    if swap:
        entries["GB0002"] = entries["GB0002"][::-1]
    return Snapshot(release, entries, dict.fromkeys(live, (SITE,)))


CHRONICLE = EntryHistories(
    facts_of(each)
    for each in (
        snapshot("2.10.0", "GB0001", "GB0002"),
        snapshot("2.8.0", "GB0001", "GB0003", without="GB0002"),
        snapshot("2.9.0", "GB0001", "GB0002", "GB0003", swap=True),
    )
)


def test_releases_are_in_the_order_of_their_numbers() -> None:
    assert CHRONICLE.releases == ["2.8.0", "2.9.0", "2.10.0"]


def test_an_entry_that_is_gone() -> None:
    history = CHRONICLE.history("GB0003")
    assert history is not None
    assert (history.first_release, history.last_release) == ("2.8.0", "2.9.0")
    assert history.gone_since == "2.10.0"
    assert [status.live for status in history.releases] == [True, True, False]


def test_an_entry_that_came_later_and_was_reworded() -> None:
    history = CHRONICLE.history("GB0002")
    assert history is not None
    assert (history.first_release, history.last_release) == ("2.9.0", "2.10.0")
    assert history.gone_since is None
    assert [(each.release, each.reworded) for each in history.releases] == [
        ("2.9.0", False),
        ("2.10.0", True),
    ]


def test_nothing_is_claimed_about_an_entry_whose_text_is_in_another_release() -> None:
    history = CHRONICLE.history("GB0003")
    assert history is not None
    page = page_without_text("GB0003", history, CHRONICLE)
    assert (page.category, page.fixable, page.eager_fails, page.live) == ("", "", False, None)
    assert (page.last_release, page.gone_since) == ("2.9.0", "2.10.0")


def test_an_entry_that_is_in_no_release() -> None:
    assert CHRONICLE.history("GB9999") is None
    assert CHRONICLE.sites("GB9999") == {}


def test_call_sites_by_release() -> None:
    assert CHRONICLE.sites("GB0003") == {"2.8.0": (SITE,), "2.9.0": (SITE,)}


def test_what_is_known_about_real_entries() -> None:
    histories = EntryHistories(known_facts().values())
    item, unittest, newer = (histories.history(each) for each in ("GB0124", "GB0060", "GB0377"))
    assert item is not None
    assert (item.first_release, item.gone_since) == ("2.8.0", None)
    # Removed from the registry file, which torch rarely does.
    assert unittest is not None
    assert (unittest.last_release, unittest.gone_since) == ("2.13.0", "2.14.0")
    assert newer is not None
    assert newer.first_release == "2.14.0"


def test_how_many_there_are_in_each_release() -> None:
    counts = {release: len(facts.entries) for release, facts in known_facts().items()}
    expected = {
        "2.8.0": 219,
        "2.9.1": 272,
        "2.10.0": 370,
        "2.11.0": 421,
        "2.12.0": 455,
        "2.13.0": 517,
        "2.14.0": 561,
        "2.15.0": 592,
    }
    assert {release: counts[release] for release in expected} == expected


def test_facts_have_no_wording_and_are_written_as_they_are_read() -> None:
    for release, facts in sorted(known_facts().items(), key=lambda each: sort_key(each[0])):
        assert (FACTS_FOLDER / f"{release}.json").read_bytes() == facts_file(facts)
        for entry in facts.entries.values():
            assert len(entry.checksum) == 8
            assert all(site.file.startswith("torch/_dynamo/") for site in entry.sites)
            assert not any(" " in site.function for site in entry.sites)
