"""The data of a site: breaks, releases and categories."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.errors import FullgraphError
from fullgraph.model.report import Report
from fullgraph.registry import history, sources
from fullgraph.registry.entries import REGISTRY_FILE
from fullgraph.registry.sources import all_histories, require_installed, snapshot_named
from fullgraph.render.report.json import render
from fullgraph.site.gather import gather
from fullgraph.site.model import SiteData
from fullgraph.site.sweep_reports import read_sweep_reports
from tests.site.sitekit import Registry


def test_every_entry_of_every_known_release_has_a_page(installed_site: SiteData) -> None:
    assert set(installed_site.breaks) == set(require_installed().entries) | all_histories().ids()
    assert list(installed_site.breaks) == sorted(installed_site.breaks)


def test_statuses_are_those_of_the_chosen_release(installed_site: SiteData) -> None:
    snapshot = require_installed()
    for identifier, each in installed_site.breaks.items():
        if identifier not in snapshot.entries:
            assert each.status == "later"
        else:
            assert each.status == ("live" if snapshot.is_live(identifier) else "retired")


def test_pages_know_what_explain_knows(installed_site: SiteData) -> None:
    from fullgraph.registry.pages import Library

    library = Library()
    for identifier in ("GB0000", "GB0124", "GB0170", "GB0291", "GB7000"):
        assert installed_site.breaks[identifier].page == library.page(identifier)


def test_texts_that_only_the_source_has_are_read_in_bulk(installed_site: SiteData) -> None:
    from fullgraph.registry.message_templates import lacks_text

    snapshot = require_installed()
    bare = [name for name, wordings in snapshot.entries.items() if lacks_text(wordings[0])]
    for identifier in bare[::12]:
        added = sources.source_text(identifier, snapshot)
        assert set(added.hints) <= set(installed_site.breaks[identifier].page.hints)


def test_a_bare_registry_knows_new_reworded_and_missing_entries(
    tmp_path: Path, registry: Registry
) -> None:
    del registry["GB0000"]
    registry["GB9990"] = [{**registry["GB0124"][0], "Gb_type": "Cannot juggle"}]
    registry["GB0125"].insert(0, {**registry["GB0125"][0], "Hints": ["Do not."]})
    file = tmp_path / "registry.json"
    file.write_text(json.dumps(registry))
    site = gather(snapshot_named(str(file)))
    assert site.breaks["GB9990"].status == "new"
    assert site.breaks["GB0000"].status == "removed"
    assert site.breaks["GB0000"].page.explanation  # from the installed torch
    assert site.breaks["GB0124"].status == "live"  # as in the newest release
    upcoming = site.upcoming
    assert upcoming is not None
    assert "GB9990" in [change.id for change in upcoming.new]
    assert "GB0000" in [change.id for change in upcoming.removed]
    assert ("GB0125", ("hints",)) in [(change.id, change.what) for change in upcoming.reworded]
    assert upcoming.retired == ()
    # Those of the newest release that the registry still has.
    gone = {change.id for change in upcoming.removed}
    live = [
        each for each in site.breaks.values() if each.history and each.history[-1].mark == "live"
    ]
    assert upcoming.live == sum(each.id not in gone for each in live)
    assert all(release.release != site.release for release in site.releases)


def test_an_entry_without_any_text_at_hand_still_has_its_facts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A registry with one entry, on a machine without torch."""
    monkeypatch.setattr(sources, "torch_folder", lambda: None)
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "empty"))
    entry = {"Gb_type": "Cannot juggle", "Context": "", "Explanation": "No.", "Hints": []}
    (tmp_path / "registry.json").write_text(json.dumps({"GB9990": [entry]}))
    site = gather(snapshot_named(str(tmp_path / "registry.json")))
    each = site.breaks["GB0124"]
    assert (each.status, each.worded, each.page.hints) == ("removed", False, ())
    assert each.page.earlier_call_sites
    assert each.example is not None
    assert [mark.mark for mark in each.history] == ["live"] * len(each.history)
    assert site.breaks["GB9990"].worded


def test_releases_tell_their_changes(installed_site: SiteData) -> None:
    releases = {release.release: release for release in installed_site.releases}
    names = [release.release for release in installed_site.releases]
    assert names == all_histories().releases[::-1]
    assert (releases["2.8.0"].before, len(releases["2.8.0"].new)) == (None, 219)
    assert releases["2.15.0"].before == "2.14.1"
    assert all(release.date for release in installed_site.releases)
    for later, earlier in itertools.pairwise(names):
        now, then = releases[later], releases[earlier]
        assert now.entries == then.entries + len(now.new) - len(now.removed)
        gone = {change.id for change in now.removed}
        facts = history.known_facts()[earlier]
        removed_live = sum(facts.entries[identifier].live for identifier in gone)
        new_live = sum(history.known_facts()[later].entries[change.id].live for change in now.new)
        assert now.live == (
            then.live + new_live + len(now.revived) - len(now.retired) - removed_live
        )


def test_every_category_is_there_and_every_break_is_in_one(installed_site: SiteData) -> None:
    listed = [each for category in installed_site.categories for each in category.breaks]
    assert sorted(listed) == [each.id for each in installed_site.breaks.values() if each.worded]
    assert all("\n## " in category.text for category in installed_site.categories)


def test_related_breaks_are_others_and_few(installed_site: SiteData) -> None:
    found = 0
    for each in installed_site.breaks.values():
        ids = [related.id for related in each.related]
        assert each.id not in ids
        assert len(ids) == len(set(ids)) <= 6
        found += bool(ids)
    assert found > len(installed_site.breaks) / 2


def test_missing_content_is_what_the_page_lacks(installed_site: SiteData) -> None:
    for each in installed_site.breaks.values():
        assert ("example" in each.missing) == (each.example is None)
        assert ("hints" in each.missing) == (not each.page.hints)
        assert "additional information" in each.missing


def test_another_registry_may_name_its_checkout_as_it_likes(
    tmp_path: Path, registry: Registry
) -> None:
    torch = tmp_path / "pytorch" / "torch"
    (torch / "_dynamo").mkdir(parents=True)
    (torch / REGISTRY_FILE).write_text(json.dumps(registry))
    (torch / "_dynamo" / "x.py").write_text('unimplemented(gb_type="Cannot juggle")\n')
    (tmp_path / "pytorch" / "version.txt").write_text("2.99.0a0\n")
    site = gather(snapshot_named(str(tmp_path / "pytorch")))
    assert site.release == "2.99.0a0"
    assert "2.99.0a0" not in [release.release for release in site.releases]
    assert site.upcoming is not None
    # Its source raises none of the entries of the newest release.
    assert len(site.upcoming.retired) > 400
    assert {each.status for each in site.breaks.values()} == {"retired", "removed"}


# Reports of a sweep


def report(*sites: tuple[str | None, int], format_: int = 1) -> str:
    found: list[dict[str, Any]] = [{"id": name, "occurrences": n} for name, n in sites]
    return json.dumps({"format": format_, "sites": found, "summary": {}})


def test_a_sweep_is_counted_by_program_site_and_occurrence(tmp_path: Path) -> None:
    (tmp_path / "bert.json").write_text(report(("GB0124", 3), ("GB0124", 1), (None, 9)))
    (tmp_path / "vision").mkdir()
    (tmp_path / "vision" / "vit.json").write_text(report(("GB0124", 5), ("GB0002", 1)))
    found = read_sweep_reports(tmp_path)
    assert set(found) == {"GB0124", "GB0002"}
    counts = found["GB0124"]
    assert (counts.programs, counts.sites, counts.occurrences) == (2, 3, 9)
    assert counts.names == ("vision/vit", "bert")
    assert read_sweep_reports(tmp_path / "bert.json")["GB0124"].names == ("bert",)


def test_a_real_report_is_read(tmp_path: Path, compiled_call: Callable[..., Report]) -> None:
    found = compiled_call(lambda x: x.item() + 1, torch.ones(1))
    (tmp_path / "r.json").write_text(render(found))
    assert read_sweep_reports(tmp_path / "r.json")["GB0124"].occurrences == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [("{", "is not a report"), ("[]", "is not a report"), (report(format_=9), "format 9")],
)
def test_what_is_not_a_report_is_named(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(FullgraphError, match=words):
        read_sweep_reports(tmp_path)
    with pytest.raises(FullgraphError, match="cannot read"):
        read_sweep_reports(tmp_path / "nothing.json")
