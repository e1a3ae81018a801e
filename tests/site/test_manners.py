"""What a site offers beside its pages: redirects, feeds, Markdown, and a strict policy."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from fullgraph.site.markdown_page import markdown_page
from fullgraph.site.model import Settings, SiteData
from fullgraph.site.pages import all_outputs, redirects
from fullgraph.site.pages.feed import outputs as feeds
from fullgraph.site.pages.markdown import outputs as markdown_outputs
from fullgraph.site.pages.opensearch import outputs as opensearch
from fullgraph.site.pages.sitemap import outputs as sitemaps
from fullgraph.site.policy import POLICY
from fullgraph.site.report_link import report_link
from tests.site.browsing import Visit

ADDRESS = "https://example.org/breaks/"


def with_address(site: SiteData) -> SiteData:
    return replace(site, settings=Settings(address=ADDRESS))


def test_every_page_has_the_policy_and_nothing_inline(built: Path) -> None:
    for file in built.rglob("*.html"):
        html = file.read_text()
        assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in html, file
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", html), file


def test_no_two_files_differ_only_in_case(installed_site: SiteData) -> None:
    paths = Counter(output.path.lower() for output in all_outputs(installed_site))
    assert [path for path, times in paths.items() if times > 1] == []


def test_ids_are_found_however_they_are_written(visit: Visit, address: str) -> None:
    for spelling in ("GB0170.html", "gb0170", "gb170", "gb/GB0170.html", "a/b/gb-170.htm"):
        page = visit(spelling)
        page.wait_for_url(f"{address}gb/gb0170.html")


def test_an_id_that_does_not_exist_is_not_looked_for_forever(visit: Visit, address: str) -> None:
    page = visit("gb98765")
    page.wait_for_url(f"{address}gb/gb98765.html")
    assert page.locator("h1").inner_text() == "This page does not exist"


def test_without_scripts_the_static_redirects_work(visit: Visit, address: str) -> None:
    page = visit("gb170", java_script_enabled=False)
    page.wait_for_url(f"{address}gb/gb0170.html")


def test_a_very_large_registry_has_no_static_redirects(
    installed_site: SiteData, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {output.path for output in redirects.outputs(installed_site)}
    assert {"GB0170.html", "gb0170/index.html", "gb170/index.html"} <= paths
    monkeypatch.setattr(redirects, "MOST_BREAKS", 100)
    assert list(redirects.outputs(installed_site)) == []


def test_code_outside_of_figures_can_be_copied_too(visit: Visit) -> None:
    page = visit("gb/gb0124.html", permissions=["clipboard-read", "clipboard-write"])
    assert page.locator("main pre").count() == page.locator("main .copy").count()
    page.locator("#info .copyable").first.hover()
    page.locator("#info .copy").first.click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("loss = step(x)\n")


def test_the_markdown_of_a_page_has_its_code_and_its_advice(installed_site: SiteData) -> None:
    text = markdown_page(installed_site.breaks["GB0170"], "2.13.0")
    assert text.startswith("# GB0170: Data-dependent branching\n")
    assert "## How to fix\n\n1. " in text
    assert text.count("```python\n") >= 2
    assert "torch.where" in text
    assert text.count("```") % 2 == 0


def test_llms_txt_leads_to_every_live_break(installed_site: SiteData) -> None:
    files = {each.path: each for each in markdown_outputs(with_address(installed_site))}
    listed = set(re.findall(r"\]\(([^)]+\.md)\)", files["llms.txt"].render().decode()))
    live = [each for each in installed_site.breaks.values() if each.status == "live"]
    assert listed == {f"{ADDRESS}gb/{each.id.lower()}.md" for each in live}
    assert {link.removeprefix(ADDRESS) for link in listed} <= set(files)


def test_the_feed_of_a_category_has_its_changes_only(installed_site: SiteData) -> None:
    files = {each.path: each for each in feeds(with_address(installed_site))}
    category = next(each for each in installed_site.categories if each.name == "data-dependent")
    text = files["categories/data-dependent.xml"].render().decode()
    root = ET.fromstring(text)
    names = set(re.findall(r"GB\d{4}", text))
    assert names
    assert names <= set(category.breaks)
    space = "{http://www.w3.org/2005/Atom}"
    ids = [entry.findtext(f"{space}id") for entry in root.iter(f"{space}entry")]
    every = files["feed.xml"].render().decode()
    assert len(ids) == len(set(ids))
    assert not any(f"<id>{each}</id>" in every for each in ids)


def test_the_sitemap_says_when_a_break_last_changed(installed_site: SiteData) -> None:
    text = next(iter(sitemaps(with_address(installed_site)))).render().decode()
    days = {each.release: each.date for each in installed_site.releases}
    history = installed_site.breaks["GB0170"].history
    reworded = [mark.release for mark in history if mark.reworded]
    assert f"gb/gb0170.html</loc><lastmod>{days[reworded[-1]]}</lastmod>" in text
    assert "about.html</loc></url>" in text  # no fact says when it changed


def test_a_browser_can_search_the_site(installed_site: SiteData) -> None:
    assert list(opensearch(installed_site)) == []
    (output,) = opensearch(with_address(installed_site))
    root = ET.fromstring(output.render())
    urls = [each.get("template") for each in root.iter() if each.tag.endswith("Url")]
    assert f"{ADDRESS}index.html?q={{searchTerms}}" in urls


def test_a_report_to_pytorch_is_prepared(installed_site: SiteData) -> None:
    for each in installed_site.breaks.values():
        assert len(report_link(each, ADDRESS)) < 2000
    link = urlsplit(report_link(installed_site.breaks["GB0170"], ADDRESS))
    assert (link.netloc, link.path) == ("github.com", "/pytorch/pytorch/issues/new")
    query = parse_qs(link.query)
    assert query["title"] == ["[dynamo] GB0170: Data-dependent branching"]
    assert f"{ADDRESS}gb/gb0170.html" in query["body"][0]
