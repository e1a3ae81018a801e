"""Every number of the dashboard leads to a list that has as many breaks."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from fullgraph.site.model import SiteData, SweepCounts
from fullgraph.site.pages.dashboard import outputs
from fullgraph.site.pages.lists import LISTS

LINKED = re.compile(r'<a href="([^"#]+)(?:#([\w-]+))?"[^>]*>(\d+)</a>')


def rows_of(page: str, anchor: str) -> int:
    """Count the rows of a list, or of one of its sections."""
    main = page.partition("<main")[2].partition("</main>")[0]
    if anchor:
        main = main.partition(f'id="{anchor}"')[2]
        main = re.split(r"<h[23]\b", main)[0]
    return main.count('<span class="id">')


def test_every_number_leads_to_its_list(built: Path) -> None:
    page = (built / "dashboard.html").read_text()
    numbers = LINKED.findall(page.partition("<main")[2])
    assert len(numbers) > 60
    for path, anchor, number in numbers:
        assert rows_of((built / path).read_text(), anchor) == int(number), (path, anchor)
    cells = re.findall(r"<td>(.*?)</td>", page)
    assert not [cell for cell in cells if cell.isdigit() and cell != "0"]


def test_the_list_of_breaks_with_information_has_only_these(installed_site: SiteData) -> None:
    lists = {each.name: each for each in LISTS}
    with_information = replace(installed_site.breaks["GB0170"], missing=())
    without = replace(installed_site.breaks["GB0124"], missing=("additional information",))
    assert lists["with-information"].has(with_information)
    assert not lists["with-information"].has(without)


def html_of(site: SiteData) -> str:
    (output,) = outputs(site)
    return output.render().decode()


def test_the_totals_name_every_list_and_its_share(installed_site: SiteData) -> None:
    totals = html_of(installed_site).partition('<dl class="totals">')[2].partition("</dl>")[0]
    assert re.findall("<dt>(.*?)</dt>", totals) == [each.title for each in LISTS]
    assert re.findall(r">(\d+)</a>", totals)[0] == str(len(installed_site.breaks))
    assert totals.count(" %</span>") == len(LISTS) - 1


def test_breaks_that_are_met_often_and_lack_information_come_first(
    installed_site: SiteData,
) -> None:
    assert "Counted by fullgraph run in" in html_of(installed_site)
    breaks = dict(installed_site.breaks)
    for identifier, programs in (("GB0170", 7), ("GB0124", 12), ("GB0109", 1)):
        counts = SweepCounts(programs, programs, programs, ())
        breaks[identifier] = replace(breaks[identifier], sweep=counts)
    page = html_of(replace(installed_site, breaks=breaks))
    section = page.partition('id="met-often"')[2].partition("</ul>")[0]
    assert re.findall(r'"id">(GB\d+)', section) == ["GB0124", "GB0170", "GB0109"]
    assert "met by 12 programs" in section


def test_a_live_break_without_an_example_is_suggested(installed_site: SiteData) -> None:
    each = installed_site.breaks["GB0170"]
    lacking = replace(each, example=None, missing=(*each.missing, "example"))
    page = html_of(replace(installed_site, breaks={**installed_site.breaks, "GB0170": lacking}))
    assert "GB0170" in page.partition('id="no-example"')[2].partition("</section>")[0]


def test_a_release_with_more_live_breaks_is_marked(installed_site: SiteData) -> None:
    newest, before, *_ = (each for each in installed_site.releases if each.date)
    page = html_of(
        replace(installed_site, releases=(replace(newest, live=before.live + 3), before))
    )
    assert '<span class="worse">+3 more</span>' in page
    fewer = html_of(
        replace(installed_site, releases=(replace(newest, live=before.live - 2), before))
    )
    assert '<span class="better">2 fewer</span>' in fewer
