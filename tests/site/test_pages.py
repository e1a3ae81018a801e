"""Parts of pages: escaped text, code with changes, charts, sizes."""

from __future__ import annotations

import gzip
import json
import re
from html import unescape
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.catalog.parse import unreachable
from fullgraph.guide.picture import EAGER, GRAPH
from fullgraph.registry.taxonomy import RENAMED
from fullgraph.site.charts import growth_chart, history_chart, history_text
from fullgraph.site.code_blocks import code_pair, diff_block, picture_block
from fullgraph.site.labels import fixable_sentence, no_example_sentence, status_sentence
from fullgraph.site.model import Mark, Release, ReleaseMark, SiteData, Status
from fullgraph.site.pages import all_outputs
from fullgraph.site.placeholders import plain
from fullgraph.site.searchindex import script_of
from fullgraph.site.templating import label, prose, without_controls

KILOBYTE = 1024
_ODD = ["‹", "›", "`", "<script>", "</p>", "&amp;", '"', "'", "torch.cond", "https://a.b/c?d=e&f"]
TEXTS = st.lists(st.sampled_from(_ODD) | st.text(max_size=6), max_size=12).map("".join)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS)
def test_a_text_of_the_registry_stays_text(text: str) -> None:
    for shown in (prose(text), label(text)):
        tags = _Tags()
        tags.feed(str(shown))
        tags.close()
        for tag, attributes in tags.found:
            assert tag in ("var", "code", "a", "br", "wbr")
            for name, value in attributes:
                assert (tag, name) == ("a", "href")
                assert re.match("https?://", value or "")
        left = re.sub("[‹›`\\s]", "", tags.text)
        assert left == re.sub("[‹›`\\s]", "", plain(text))


def test_holes_code_and_names_are_told_apart() -> None:
    assert prose("call `f(‹x›)` of ‹type of x›, not torch.cond.") == (
        "call <code>f(<var>x</var>)</code> of <var>type of the x</var>, "
        "not <code>torch.cond</code>."
    )
    assert prose("use @torch.compile()") == "use <code>@torch.compile()</code>"


def _without(tag: str, html: str) -> list[str]:
    """Return the lines of a block of code without the marked lines."""
    kept = re.sub(rf"<{tag}>[^\n]*\n</{tag}>", "", html)
    lines = unescape(re.sub("<[^>]*>", "", kept)).split("\n")
    return [line for line in lines if line.strip()]


LINES = st.lists(st.sampled_from(["a = 1", "b = a", "    return b", "", "def f(x):"]), max_size=9)


@given(LINES, LINES)
def test_what_is_not_marked_is_the_same_on_both_sides(before: list[str], after: list[str]) -> None:
    pair = code_pair("\n".join(before), "\n".join(after), "fixed")
    assert _without("del", str(pair.before)) == _without("ins", str(pair.after))


def test_another_name_is_no_change() -> None:
    pair = code_pair("def breaks(x):\n    return x\n", "def fixed(x):\n    return x\n", "fixed")
    assert "<del>" not in pair.before
    assert "<ins>" not in pair.after


def _history(*marks: Mark, reworded: int = -1) -> tuple[ReleaseMark, ...]:
    return tuple(
        ReleaseMark(f"2.{number + 8}.0", mark, number == reworded)
        for number, mark in enumerate(marks)
    )


def test_a_history_says_what_its_chart_shows() -> None:
    history = _history("absent", "live", "live", "retired", reworded=2)
    assert history_text(history) == "Introduced in 2.9.0; reworded in 2.10.0; last live in 2.10.0."
    chart = str(history_chart(history))
    assert re.findall("[●◆✕]", chart) == ["●", "◆", "✕"]
    assert history_text(history) in chart
    assert "2.8.0 or longer" in history_text(_history("live", "live"))
    assert history_text(_history("absent")) == "No known release has it."
    assert "not in the registry of 2.9.0" in history_text(_history("live", "absent"))


def test_a_status_is_a_sentence(installed_site: SiteData) -> None:
    page = installed_site.breaks["GB0124"]

    def said(status: Status, **facts: object) -> str:
        changed = msgspec.structs.replace(page.page, **facts)
        each = msgspec.structs.replace(page, status=status, page=changed)
        return status_sentence(each, "2.13.0")

    newest = page.history[-1].release
    assert said("live") == "torch 2.13.0 can raise it."
    assert said("live", live=None) == f"torch {newest}, the newest release, can raise it."
    assert said("retired", gone_since="2.10") == "torch no longer raises it since 2.10."
    assert said("retired", gone_since=None) == "torch no longer raises it."
    assert said("new") == "No known release has it yet."
    assert said("later", first_release="2.15") == (
        "It is new in torch 2.15; torch 2.13.0 does not have it."
    )
    assert said("removed", last_release="2.12") == (
        "Removed from the registry; torch 2.12 still has it."
    )
    assert said("removed", last_release=None, first_release=None) == "Removed."
    assert said("unknown").startswith("Unknown")


def test_a_reason_for_no_example_is_a_sentence() -> None:
    for reason in unreachable().values():
        assert re.fullmatch(r"(It|No program) .*[^:. ]\.", no_example_sentence(reason)), reason


def test_wide_code_is_not_put_into_two_narrow_columns() -> None:
    assert code_pair("x = 1\n", "y = 1\n", "fixed").size == "narrow"
    assert code_pair("x = 1\n", f"y = {'1 + ' * 14}1\n", "fixed").size == "medium"
    assert code_pair("x = 1\n", f"y = {'1 + ' * 20}1\n", "fixed").size == "wide"


def test_a_diff_marks_its_lines_and_stays_a_diff() -> None:
    diff = "@@ -1,3 +1,3 @@\n def f(x):\n-    return x < 1\n+    return 1 > x\n"
    html = str(diff_block(diff))
    assert re.findall(r"<(ins|del)>(.)", html) == [("del", "-"), ("ins", "+")]
    assert unescape(re.sub("<[^>]*>", "", html)) == diff


def test_html_has_no_control_characters() -> None:
    assert without_controls("\0a\x1b[31mé\t\r\n".encode()).decode() == "�a�[31mé\t\r\n"
    assert without_controls("‹é›\n".encode()).decode() == "‹é›\n"


@pytest.mark.parametrize(
    ("fixable", "cost", "said"),
    [
        ("yes", "one line", "yes, usually with one line"),
        ("sometimes", "restructure", "sometimes, then with restructuring"),
        ("no", "not by you", "not by you"),
        ("", "", ""),
    ],
)
def test_whether_it_can_be_fixed_is_a_sentence(fixable: str, cost: str, said: str) -> None:
    assert fixable_sentence(fixable, cost) == said


def test_bars_are_as_high_as_their_numbers() -> None:
    releases = [
        Release(name, None, "", entries, live, (), (), (), (), ())
        for name, entries, live in (("2.8.0", 100, 50), ("2.9.0", 200, 180))
    ]
    bars = re.findall(r'<rect class="(\w+)"[^>]* height="(\d+)"', growth_chart(releases))
    assert bars == [("retired", "50"), ("live", "50"), ("retired", "20"), ("live", "180")]


def test_a_picture_keeps_all_of_its_lines() -> None:
    picture = f"a <b> & c\n1 {GRAPH} x = x + 1\n  {EAGER} print(x)\n\nlast"
    shown = picture_block(picture)
    assert unescape(re.sub("<[^>]*>", "", shown)) == f"{picture}\n"


def test_a_chart_without_releases_is_empty() -> None:
    assert "rect" not in growth_chart(())


@given(st.text())
def test_the_index_is_a_script_and_nothing_else(text: str) -> None:
    script = script_of("FULLGRAPH_INDEX", {"text": f"</script><!--\u2028{text}"}).decode()
    assert "<" not in script
    assert "\u2028" not in script
    data = json.loads(script.removeprefix("window.FULLGRAPH_INDEX = ").rstrip().rstrip(";"))
    assert data["text"] == f"</script><!--\u2028{text}"


def test_pages_are_small(pages: dict[str, bytes]) -> None:
    needed = ["index.html", "search-index.js"]
    # The picture is for sites that show a link to the page.
    needed += [path for path in pages if path.startswith("assets/") and ".png" not in path]
    home = sum(len(gzip.compress(pages[path])) for path in needed)
    assert home < 150 * KILOBYTE
    breaks = {path: len(gzip.compress(page)) for path, page in pages.items() if "gb/gb" in path}
    assert len(breaks) > 500
    assert max(breaks.values()) < 30 * KILOBYTE


def test_the_home_page_lists_every_break_once(
    pages: dict[str, bytes], installed_site: SiteData
) -> None:
    listed = re.findall(rb'<li data-id="(GB\d+)"', pages["index.html"])
    assert sorted(listed) == sorted(each.encode() for each in installed_site.breaks)


def test_an_old_address_of_a_category_leads_to_the_new_one(pages: dict[str, bytes]) -> None:
    for old, new in RENAMED.items():
        page = pages[f"categories/{old}.html"].decode()
        assert f'<meta http-equiv="refresh" content="0; url={new}.html">' in page
        assert f'<a href="{new}.html">' in page
        assert f"categories/{new}.html" in pages
        assert f"categories/{old}.html" not in pages["sitemap.xml"].decode()


def test_pages_are_the_same_each_time(installed_site: SiteData, pages: dict[str, bytes]) -> None:
    for output in all_outputs(installed_site):
        if output.path in ("gb/gb0124.html", "index.html", "dashboard.html"):
            assert output.render() == pages[output.path]
        assert msgspec.msgpack.encode(output.facts)


def test_links_lead_no_higher_than_the_site(pages: dict[str, bytes]) -> None:
    for path in ("gb/gb0124.html", "index.html", "categories/python.html"):
        links = re.findall(rb'(?:href|src)="([^"]*)"', pages[path])
        inside = [link for link in links if not link.startswith(b"https://")]
        assert inside
        assert not any(link.startswith(b"/") for link in inside)
        assert all(link.count(b"../") <= path.count("/") for link in inside)


def test_every_fixer_has_a_page_and_is_linked(
    pages: dict[str, bytes], installed_site: SiteData
) -> None:
    index = pages["fixes/index.html"].decode()
    sitemap = pages["sitemap.xml"].decode()
    for fixer in installed_site.fixers:
        assert f'href="{fixer.name}.html"' in index
        assert f"fixes/{fixer.name}.html" in sitemap
        assert fixer.name in pages[f"fixes/{fixer.name}.html"].decode()


def test_every_lesson_has_a_page_with_its_code_and_pictures(
    pages: dict[str, bytes], installed_site: SiteData
) -> None:
    index = pages["guide/index.html"].decode()
    for lesson in installed_site.lessons:
        page = pages[f"guide/{lesson.id}.html"].decode()
        assert f'href="{lesson.id}.html"' in index
        assert f"fullgraph learn {lesson.id} --run" in page
        assert "{{" not in page
        assert page.count("<figcaption>Graphs<") == sum(p.kind == "picture" for p in lesson.parts)
        assert all(f'href="../gb/{each.lower()}.html"' in page for each in lesson.breaks)


def test_breaks_and_categories_name_their_fixers(
    pages: dict[str, bytes], installed_site: SiteData
) -> None:
    link = '<a href="../fixes/capture_scalar_outputs.html">'
    page = pages["gb/gb0124.html"].decode()
    assert "<code>fullgraph fix</code> can do this:" in page
    assert link in page
    assert link in pages["categories/data-dependent.html"].decode()
    assert "capture_scalar_outputs" in json.loads(pages["api/gb/GB0124.json"])["fixers"]
    others = [each for each in installed_site.breaks.values() if not each.fixers_by_id]
    some = next(each for each in others if each.fixers)
    assert "can do this in some cases:" in pages[some.path].decode()
    none = next(each for each in others if not each.fixers)
    assert "<code>fullgraph fix</code> can do this" not in pages[none.path].decode()
