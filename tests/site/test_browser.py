"""The pages in a real browser: they work, look right in both themes, and load nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from bench.site_layout import DESKTOP, FIRST_CODE, FOLD, OVERFLOWS, SMALL_TEXT, SMALLEST_TEXT
from fullgraph.registry.sources import snapshot_named
from fullgraph.site.gather import gather
from tests.site.browsing import Visit, write

# One page of every kind, and pages with special content.
KINDS = [
    "index.html",
    "index.html?q=tensor+item&status=live",
    "index.html?q=gb0170",
    "gb/gb0124.html",  # additional information, two fixes
    "gb/gb0102.html",  # earlier wordings
    "gb/gb0038.html",  # retired
    "gb/gb0007.html",  # variants, several messages
    "gb/gb9999.html",  # in no release
    "categories/index.html",
    "categories/data-dependent.html",
    "fixes/index.html",
    "fixes/capture_scalar_outputs.html",
    "guide/index.html",
    "guide/graph-breaks.html",
    "docs/index.html",
    "docs/commands/fix.html",
    "docs/report-format.html",
    "releases/index.html",
    "releases/2.13.0.html",
    "dashboard.html",
    "lists/live.html",
    "about.html",
    "not/there.html",
]


def _violations(page: Page, *rules: str) -> list[str]:
    """Return the violations that axe finds, with some rules or with all."""
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    # Rows are alike, and hundreds of them would take a minute.
    page.evaluate("document.querySelectorAll('.rows li:nth-child(n+5)').forEach(e => e.remove())")
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    results = Axe().run(page, options={"resultTypes": ["violations"], **only})
    return [
        f"{rule['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:200]}"
        for rule in results.response["violations"]
        for node in rule["nodes"][:3]
    ]


def _check_landmarks(page: Page) -> None:
    assert page.title().endswith("Graph breaks")
    assert page.get_attribute("html", "lang") == "en"
    for landmark in ("header.top", "main", "footer.bottom", "h1"):
        assert page.locator(landmark).count() == 1, landmark
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"


@pytest.mark.parametrize("path", KINDS)
def test_every_kind_of_page_is_accessible_and_fits(visit: Visit, path: str) -> None:
    page = visit(path)
    _check_landmarks(page)
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert not page.evaluate(OVERFLOWS), width
        assert page.evaluate(SMALL_TEXT, SMALLEST_TEXT) == [], width
    assert _violations(page) == []
    page.emulate_media(color_scheme="dark")
    # Parts that only a wide page shows, in the other theme.
    assert _violations(page, "color-contrast") == []
    page.set_viewport_size({"width": 375, "height": 800})
    assert _violations(page) == []


def test_the_search_in_the_header_is_accessible(visit: Visit) -> None:
    page = visit("about.html", color_scheme="dark")
    page.keyboard.press("/")
    page.keyboard.type("numpy")
    expect(page.locator(".panel li").first).to_be_visible()
    assert _violations(page) == []
    page.fill("#q", "gb0170")
    expect(page.locator(".panel .remedy")).to_be_visible()
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert _violations(page) == []


def test_the_page_of_a_break_has_all_its_parts(visit: Visit) -> None:
    page = visit("gb/gb0124.html")
    headings = page.locator("h2").all_inner_texts()
    assert headings == [
        "How to fix", "Additional information", "Why it happens", "Where torch raises it",
        "History", "Related",
    ]  # fmt: skip
    assert page.locator(".badge").first.inner_text() == "live"
    assert page.locator(".ways .verified").count() == 2
    assert page.locator(".answer del").first.inner_text().strip() == "scale = x.abs().max().item()"
    assert page.locator(".answer ins").first.inner_text().strip() == "scale = x.abs().max()"
    assert page.locator("#info pre .f, #info pre .b").count() > 0
    assert "github.com/pytorch/pytorch/blob/v" in str(page.get_attribute(".places a", "href"))
    link = str(page.locator("a", has_text="Improve this page").get_attribute("href"))
    assert link == "https://github.com/owner/name/edit/main/info/gb0124.md"
    assert "since" in str(page.locator("svg.history").get_attribute("aria-label"))
    for anchor in page.locator(".contents a").all():
        assert page.locator(str(anchor.get_attribute("href"))).count() == 1


def test_the_first_code_is_above_the_fold(visit: Visit, address: str) -> None:
    # `python -m bench site_layout` measures every page.
    page = visit("gb/gb0170.html")
    page.set_viewport_size({**DESKTOP})
    breaks = [f"gb/{name}" for name in ("gb0170", "gb0000", "gb0007", "gb0038", "gb0216", "gb9958")]
    for path in (*breaks, "fixes/moe_expert_loops"):
        page.goto(f"{address}{path}.html")
        top = page.evaluate(FIRST_CODE)
        assert top is not None
        assert top < FOLD, path


def test_your_torch_is_remembered_and_says_what_it_has(visit: Visit, address: str) -> None:
    page = visit("gb/gb0170.html")
    switch, shown = page.get_by_label("Your torch"), page.locator(".eyebrow .yours")
    expect(shown).to_be_hidden()
    switch.select_option("2.9.1")
    expect(shown).to_have_text("Live in torch 2.9.1")
    page.goto(f"{address}gb/gb0038.html")  # retired since 2.12
    expect(switch).to_have_value("2.9.1")
    expect(shown).to_have_text("Live in torch 2.9.1")
    switch.select_option("2.15.0")
    expect(shown).to_contain_text("Gone in torch 2.15; ")
    page.goto(f"{address}gb/gb9958.html")  # new in a later release
    switch.select_option("2.8.0")
    expect(shown).to_contain_text("Not in torch 2.8 yet; it is new in ")
    page.goto(f"{address}categories/python.html")
    absent = page.locator(".rows .yours.not-yet")
    assert absent.count() > 5
    switch.select_option("")
    expect(absent).to_have_count(0)


def test_a_break_leads_to_the_page_of_a_fixer_and_back(visit: Visit) -> None:
    page = visit("gb/gb0124.html")
    page.locator("#fix .fixers a").first.click()
    page.wait_for_url("**/fixes/capture_scalar_outputs.html")
    headings = page.locator("h2").all_inner_texts()
    assert headings[:4] == ["What it does", "Why it breaks", "Safety", "Not applied when"]
    added = page.locator(".diff ins").first
    assert added.inner_text().strip() == "+ torch._dynamo.config.capture_scalar_outputs = True"
    page.locator("#breaks a", has_text="GB0124").click()
    page.wait_for_url("**/gb/gb0124.html")


def test_the_links_of_the_site_fit_a_phone(visit: Visit) -> None:
    page = visit("about.html", width=375)
    assert page.evaluate(
        "(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('.top nav'))"
    )


def test_words_in_tables_stay_whole(visit: Visit) -> None:
    for path in ("gb/gb0124.html", "categories/higher-order.html"):
        page = visit(path, width=375)
        lines = """[...document.querySelectorAll('.contributed td')]
            .filter(cell => /^\\w+$/.test(cell.textContent))
            .map(cell => { const range = document.createRange(); range.selectNodeContents(cell);
                           return range.getClientRects().length })"""
        assert set(page.evaluate(lines)) == {1}


def test_code_stands_side_by_side_or_one_above_the_other(visit: Visit) -> None:
    for width, beside in ((1280, True), (375, False)):
        page = visit("gb/gb0124.html", width=width)
        before, after = (page.locator(f".answer .{name}").first for name in ("breaks", "fixed"))
        one, other = before.bounding_box(), after.bounding_box()
        assert one is not None
        assert other is not None
        assert (one["y"] == other["y"]) is beside


def test_code_can_be_copied(visit: Visit) -> None:
    page = visit("gb/gb0124.html", permissions=["clipboard-read", "clipboard-write"])
    button = page.locator(".fixed .copy").first
    button.click()
    expect(button).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("def fixed(x):\n    scale = x.abs().max()\n    return x / scale\n")


def test_the_theme_follows_the_system_until_it_is_chosen(visit: Visit) -> None:
    page = visit("gb/gb0124.html", color_scheme="dark")

    def is_dark() -> bool:
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, color.removeprefix("rgb(").rstrip(")").split(","))) < 200

    assert is_dark()
    page.locator("button.theme").click()
    assert not is_dark()
    page.locator("a.brand").click()
    page.wait_for_url("**/index.html")
    assert page.get_attribute("html", "data-theme") == "light"
    assert not is_dark()
    page.locator("button.theme").click()
    page.reload()
    assert is_dark()


def test_a_remembered_theme_is_there_before_anything_is_drawn(visit: Visit) -> None:
    page = visit("index.html", color_scheme="light")
    page.locator("button.theme").click()
    page.add_init_script(
        "new MutationObserver(() => {"
        "  const theme = document.documentElement.dataset.theme;"
        "  if (document.body && !window.first) window.first = theme"
        "}).observe(document, {childList: true, subtree: true})"
    )
    page.reload()
    assert page.evaluate("window.first") == "dark"


def test_without_javascript_everything_can_be_reached(visit: Visit) -> None:
    page = visit("index.html", java_script_enabled=False)
    assert page.locator("form.find").is_hidden()
    page.locator("noscript a").click()
    assert page.locator("#all li:visible").count() > 500
    assert page.locator("button.theme").is_hidden()
    assert page.locator("label.torch").is_hidden()
    page.locator("#all a", has_text="Unsupported Tensor.item() call").click()
    expect(page.locator("h1")).to_contain_text("Unsupported Tensor.item() call")
    assert page.locator(".copy").count() == 0
    for name in ("Categories", "Fixes", "Releases", "Dashboard", "About"):
        page.locator("header nav a", has_text=name).click()
        expect(page.locator("main h1")).to_have_text(name)
    assert page.locator("form.find").is_hidden()
    page.locator("header .find-link").click()
    assert page.locator("#all li:visible").count() > 500


def test_from_a_folder_it_works_the_same(visit: Visit, hosted: Path) -> None:
    page = visit("index.html", at=f"{hosted.as_uri()}/")
    page.fill("#q", "gb124")
    page.keyboard.press("Enter")
    page.wait_for_url("**/gb/gb0124.html")
    page.locator("a[rel=next]").click()
    expect(page.locator(".eyebrow .id")).to_have_text("GB0125")
    page.locator(".crumbs a").first.click()
    expect(page.locator("#results")).to_have_count(1)


def test_a_missing_page_of_any_depth_leads_home(visit: Visit, address: str) -> None:
    page = visit("a/b/c/d.html")
    assert page.locator("h1").inner_text() == "This page does not exist"
    page.locator("main a.button").click()
    expect(page).to_have_url(f"{address}index.html")
    expect(page.locator("#q")).to_be_visible()


def test_what_is_printed_is_the_text(visit: Visit) -> None:
    page = visit("gb/gb0102.html")
    page.emulate_media(media="print")
    for hidden in ("header.top", ".pager", ".contents", ".copy"):
        assert page.locator(hidden).first.is_hidden()
    cut = "[...document.querySelectorAll('pre')].some(e => e.scrollWidth > e.clientWidth + 1)"
    assert not page.evaluate(cut)


def test_html_in_a_registry_is_shown_as_text(visit: Visit, tmp_path: Path) -> None:
    evil = "</script></textarea><script>window.owned = 1</script><img src=x onerror='owned=1'>"
    entry = {
        "Gb_type": f"Evil {evil}", "Context": f"{evil} {{x}}",
        "Explanation": f"{evil}\u2028 `{evil}` {{thing}}", "Hints": [evil, "<!--", "\0\x1b"],
    }  # fmt: skip
    file = tmp_path / "registry.json"
    file.write_text(json.dumps({"GB0001": [entry, {**entry, "Gb_type": f"Older {evil}"}]}))
    shown = ("index.html", "search-", "assets/", "gb/gb0001.html", "dashboard.html")
    write(gather(snapshot_named(str(file))), tmp_path / "site", shown)
    home = f"{(tmp_path / 'site').as_uri()}/"
    for path in ("index.html?q=evil", "gb/gb0001.html", "dashboard.html"):
        page = visit(path, at=home)
        assert page.evaluate("window.owned") is None
        assert page.locator("main img, main script").count() == 0
    assert page.goto(f"{home}gb/gb0001.html")
    assert evil in page.locator("h1").inner_text()
    assert page.locator("#message .terminal", has_text="��").count() == 1
    page.goto(f"{home}index.html?q=evil")
    expect(page.locator("#results li").first).to_contain_text(evil)
    page.goto(f"{home}index.html?q=gb0001")
    expect(page.locator("#answer h2")).to_contain_text(evil)
    expect(page.locator("#answer .remedy")).to_be_visible()
    assert page.evaluate("window.owned") is None
