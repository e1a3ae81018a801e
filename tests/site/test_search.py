"""Finding a page: on the home page, and from the header of every page."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from fullgraph.catalog.parse import example_ids
from fullgraph.site.model import SiteData
from fullgraph.site.pages import all_outputs
from fullgraph.site.searchindex import search_words
from tests.site.browsing import Visit

QUESTIONS = Path(__file__).parent / "questions.toml"
MESSAGE = """Unsupported Tensor.item() call with capture_scalar_outputs=False
  Explanation: Dynamo does not support tracing it.
  Hint: Something.

  Developer debug context: call_method TensorVariable() item () {}
"""


def _ready(page: Page) -> Page:
    """Wait until the index is loaded, which the first focus starts."""
    page.focus("#q")
    # The policy of the pages does not allow `wait_for_function`.
    page.evaluate(
        """async () => {
            while (!window.FullgraphSearch) await new Promise(done => setTimeout(done, 5));
        }"""
    )
    return page


def _first(page: Page) -> str:
    """Return the id of the recognized break, or of the first result."""
    return page.locator("#answer h2 .id, #results li .id").first.inner_text()


def _paste(page: Page, text: str) -> None:
    """Paste a text at once; filling the box would type every line."""
    page.evaluate(
        """text => {
            const box = document.getElementById("q");
            box.value = text;
            box.dispatchEvent(new Event("input"));
        }""",
        text,
    )


def _parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def test_an_id_in_any_form_or_a_message(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    address = "https://example.com/gb/gb0124.html#why"
    for query in ("GB0124", "gb124", "124", " gb0124.html", address, MESSAGE):
        _paste(page, "")
        _paste(page, query)
        assert _first(page) == "GB0124", query


def test_words(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    beside = """[...document.querySelectorAll('#results li:has(.why)')].filter(row =>
        row.querySelector('.why').getBoundingClientRect().top <
        row.querySelector('.type').getBoundingClientRect().bottom - 4).length"""
    for words, expected in (
        ("tensor item", "GB0124"),
        ("unsuported context manger", "GB0142"),  # typos
        ("recompil lim", "GB0039"),  # beginnings of words
        ("capture_scalar", "GB0124"),  # a part of a name
        ("branching on data", "GB0170"),
    ):
        page.fill("#q", words)
        ids = page.locator("#results .id").all_inner_texts()[:3]
        assert expected in ids, words
        assert page.evaluate(beside) == 0, words


def _answers(page: Page, questions: list[str]) -> list[list[str]]:
    """Return the first three pages for each question, as paths without `.html`."""
    page.evaluate("window.search = new FullgraphSearch.Search(FULLGRAPH_INDEX)")
    paths: list[list[str]] = page.evaluate(
        """questions => questions.map(question =>
            search.find(question).slice(0, 3).map(({entry}) => entry.path.replace(".html", "")))""",
        questions,
    )
    return paths


@pytest.mark.parametrize("table", ["question", "holdout"])
def test_vague_questions(visit: Visit, table: str) -> None:
    questions: list[dict[str, Any]] = tomllib.loads(QUESTIONS.read_text())[table]
    found = _answers(_ready(visit("index.html")), [each["text"] for each in questions])
    results = list(zip(questions, found, strict=True))
    missed = [(each["text"], paths) for each, paths in results if not {*each["wanted"]} & {*paths}]
    first = sum(paths[0] in each["wanted"] for each, paths in results if paths)
    assert not missed
    assert first >= 20


def test_users_words_lead_to_pages_that_exist(installed_site: SiteData) -> None:
    paths = {output.path.removesuffix(".html") for output in all_outputs(installed_site)}
    assert {*search_words().pages} <= paths


def test_results_say_what_they_are(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.fill("#q", "printing and logging")
    kinds = set(page.locator("#results .kind").all_inner_texts())
    assert kinds == {"Break", "Lesson", "Fixer", "Category"}
    page.locator("#results li", has_text="Lesson").first.locator("a").click()
    page.wait_for_url("**/guide/*.html")


def test_additional_information_and_code_are_searched(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.fill("#q", "rewrite way cost")  # words of the additional information in browsing.py
    assert "GB0124" in page.locator("#results .id").all_inner_texts()
    page.fill("#q", "monotonic")  # only in the code of the example
    assert _first(page) == "GB0007"


def test_a_recognized_error_is_a_card_with_its_fix(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    _paste(page, MESSAGE)
    assert page.locator("#answer h2").inner_text().startswith("This is GB0124")
    expect(page.locator("#answer .remedy ins")).to_contain_text("scale = x.abs().max()")
    assert page.locator("#count").inner_text().startswith("Recognized: GB0124")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#answer h2 a")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/gb/gb0124.html")


def test_the_card_is_about_the_function_in_the_message(
    visit: Visit, installed_site: SiteData
) -> None:
    page = _ready(visit("index.html"))
    title = installed_site.breaks["GB0059"].page.type
    for function, said in (("open", "reads a file"), ("print", "print("), ("vars", "it is vars")):
        _paste(page, f"{title}\n  Explanation: it is `{function}`.\n  Hint: none.\n")
        expect(page.locator("#answer .card > p")).to_contain_text(said)
    assert page.locator("#answer .remedy pre").count() == 0, "the fix of another function"
    # This entry has several explanations, and the first is not about this function.
    title = installed_site.breaks["GB0007"].page.type
    _paste(page, f"{title}\n  Explanation: Not traced: `Random.random`. Why?\n  Hint: none.\n")
    expect(page.locator("#answer .card > p")).to_have_text("Not traced: Random.random.")


def test_an_error_that_is_no_graph_break_is_found_by_the_line_that_names_it(visit: Visit) -> None:
    stack = '  File "model.py", line 3, in forward\n    dynamic_shapes_logs(limits, sizes)\n' * 8
    text = (
        f"Traceback (most recent call last):\n{stack}torch.exc.SymNode: Could not guard on data\n"
    )
    assert _answers(_ready(visit("index.html")), [text])[0][0] == "guide/data-dependent-guards"


def test_information_about_an_id_that_no_release_has_is_found(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    for query in ("GB9999", "9999"):
        page.fill("#q", query)
        expect(page.locator("#answer h2")).to_have_text("This is GB9999 Additional information")
    page.keyboard.press("Enter")
    page.wait_for_url("**/gb/gb9999.html")


def test_results_follow_the_switch_for_a_release(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.locator("label.torch select").select_option("2.13.0")
    page.fill("#q", "gb0038")
    assert page.locator("#answer .badge:visible").all_inner_texts() == ["gone"]
    page.fill("#q", "dynamic slicing")
    row = page.locator("#results li", has_text="GB0038")
    assert row.locator(".badge:visible").all_inner_texts() == ["gone"]


@pytest.mark.parametrize("path", ["index.html", "guide/guards.html"])
def test_the_card_and_its_fix_are_visible_without_scrolling(visit: Visit, path: str) -> None:
    page = visit(path)
    traceback = "Traceback (most recent call last):\n" + '  File "train.py", line 3\n' * 20
    for width, height in ((390, 844), (1366, 700)):
        page.set_viewport_size({"width": width, "height": height})
        _ready(page)
        _paste(page, traceback + MESSAGE)
        for part in ("#answer h2", "#answer .remedy b", "#answer .remedy del"):
            expect(page.locator(part).first).to_be_in_viewport(ratio=1)


def test_every_page_has_the_search(visit: Visit, address: str) -> None:
    page = visit("gb/gb0170.html")
    assert page.evaluate("window.FULLGRAPH_INDEX === undefined"), "loaded before it is needed"
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("tolist")
    page.keyboard.press("Enter")  # also while the index is being loaded
    page.wait_for_url("**/gb/gb0109.html")
    page.keyboard.press("/")
    page.keyboard.type("numpy")
    expect(page.locator("#results li")).to_have_count(8)
    page.keyboard.press("ArrowDown")
    expect(page.locator("#results li a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_be_hidden()
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("numpy")
    page.locator("footer").click()
    expect(page.locator(".panel")).to_be_hidden()
    page.locator("#q").focus()
    page.locator(".panel .more a").click()
    expect(page).to_have_url(f"{address}index.html?q=numpy")
    expect(page.locator("#results li").nth(8)).to_be_visible()


def test_nothing_found_is_said_before_near_matches(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.fill("#q", "qwertzuiop")
    assert page.locator("#results li").count() == 0
    assert page.locator("#count").inner_text().startswith("Nothing found.")
    assert page.locator("#count").get_attribute("role") == "status"
    page.fill("#q", "breakpiont")
    assert page.locator("#count").inner_text().startswith("Nothing matches.")
    assert _first(page) == "GB0059"
    _paste(page, "Traceback (most recent call last):\n  File x\nKeyError: 'tensor'")
    assert "no message that is known" in page.locator("#count").inner_text()
    page.fill("#q", "gb0124")
    page.locator(".filters summary").click()
    page.select_option("[name=status]", "retired")
    assert page.locator("#count").inner_text() == "Nothing with these filters, 1 without them."


def test_filters_narrow_the_list_and_the_search(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.locator("#all > summary").click()
    everything = page.locator("#all li:visible").count()
    page.locator(".filters summary").click()
    page.select_option("[name=category]", "data-dependent")
    shown = page.locator("#all li:visible").count()
    assert 0 < shown < everything
    assert page.locator("#all h3:visible").count() == 1
    assert page.locator("#count").inner_text() == f"{shown} of {everything} breaks"
    page.select_option("[name=status]", "retired")
    retired = page.locator("#all li:visible")
    assert 0 < retired.count() < shown
    assert retired.locator(".badge.retired").count() == retired.count()
    page.click("button.reset")
    assert page.locator("#all li:visible").count() == everything
    page.check("[name=example]")
    with_example = page.locator("#all li:visible").count()
    assert page.locator("#all li:visible", has_text="example").count() == with_example
    page.fill("#q", "tensor")
    assert page.locator("#results li").count() > 0
    assert page.locator("#results li:not(:has(.tag))").count() == 0


def test_the_list_is_folded_until_it_is_wanted(visit: Visit) -> None:
    page = visit("index.html")
    assert page.locator("#all li:visible").count() == 0
    assert 10 < page.locator("#start .met li").count() <= 12
    assert "27 models of transformers" in page.locator("#start").inner_text()
    assert page.locator("#start .tiles li").count() > 17
    page = visit("index.html?status=retired")
    expect(page.locator("#count")).to_contain_text("breaks")
    assert page.locator("#all li:visible").count() > 0
    assert page.locator("#start").is_hidden()
    page = visit("index.html#breaks")
    expect(page.locator("#all li:visible").first).to_be_visible()


def test_an_old_name_of_a_category_in_an_address_still_filters(visit: Visit) -> None:
    page = visit("index.html?category=effects")
    assert page.locator("select[name=category]").input_value() == "side-effects"


def test_filters_by_release(visit: Visit) -> None:
    page = visit("index.html?introduced=2.13.0")
    expect(page.locator("#count")).to_contain_text("breaks")
    new = page.locator("#all li:visible").count()
    page.goto(page.url.replace("index.html?introduced=2.13.0", "releases/2.13.0.html"))
    assert page.locator("#new .number").inner_text() == str(new)
    page = visit("index.html?release=2.8.0")
    expect(page.locator("#count")).to_contain_text("breaks")
    assert 0 < page.locator("#all li:visible").count() < 300


def test_keys(visit: Visit) -> None:
    page = visit("index.html")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    _ready(page)
    page.keyboard.type("tensor item")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#results li:nth-child(1) a")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#results li:nth-child(2) a")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    assert page.input_value("#q") == ""
    expect(page.locator("#start")).to_be_visible()
    page.keyboard.type("a/b")
    assert page.input_value("#q") == "a/b"
    page.fill("#q", "gb0124")
    page.keyboard.press("Enter")
    page.wait_for_url("**/gb/gb0124.html")


def test_a_search_can_be_shared(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.fill("#q", "tensor item")
    page.locator(".filters summary").click()
    page.select_option("[name=status]", "live")
    page.check("[name=example]")
    assert _parameters(page) == {"q": "tensor item", "status": "live", "example": "1"}
    other = visit(page.url.rpartition("/")[2])
    assert other.input_value("#q") == "tensor item"
    assert other.input_value("[name=status]") == "live"
    assert other.is_checked("[name=example]")
    expect(other.locator("#results li").first).to_be_visible()
    first, second = (each.locator("#results").inner_text() for each in (page, other))
    assert first == second


def test_back_and_forward(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    page.locator("#q").press_sequentially("tensor item")
    page.locator(".filters summary").click()
    page.select_option("[name=status]", "live")
    page.keyboard.press("Tab")
    page.go_back()
    assert page.input_value("[name=status]") == ""
    assert page.input_value("#q") == "tensor item"
    page.go_back()
    assert page.input_value("#q") == ""
    expect(page.locator("#start")).to_be_visible()
    page.go_forward()
    assert _first(page) == "GB0124"
    page.locator("#results a").first.click()
    page.wait_for_url("**/gb/gb0124.html")
    page.go_back()
    page.wait_for_url("**/index.html?q=*")
    assert page.input_value("#q") == "tensor item"


def test_a_long_message_makes_a_short_address(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    _paste(page, MESSAGE + "from user code:\n" + "  File x\n" * 500)
    page.wait_for_url("**/index.html?q=GB0124")
    _paste(page, "\n\nnothing that is known, " + "but long " * 300)
    page.wait_for_url("**/index.html?q=nothing*")
    assert len(page.url) < 400


def test_typing_fast_leaves_the_whole_query_in_the_address(visit: Visit) -> None:
    page = _ready(visit("index.html"))
    # Browsers limit the number of URL changes within a few seconds.
    page.evaluate(
        """() => {
            const box = document.getElementById("q");
            for (let number = 0; number < 400; number++) {
                box.value = `gb${number}`;
                box.dispatchEvent(new Event("input"));
            }
        }"""
    )
    page.wait_for_url("**/index.html?q=gb399")
    page.go_back()
    assert page.input_value("#q") == ""


@pytest.fixture
def messages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return real messages of torch, by the id that the message links to."""
    ids = example_ids()
    # Spread over the catalog; some of the examples raise nothing with fullgraph=True.
    chosen = [ids[number * len(ids) // 60] for number in range(60)]
    script = Path(__file__).parent / "render_messages.py"
    run = subprocess.run(
        [sys.executable, str(script), *chosen],
        cwd=tmp_path_factory.mktemp("render"), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, str] = json.loads(run.stdout)
    linked = {name: text for name, text in found.items() if _links_to(text) == name}
    return dict(list(linked.items())[:50])


def _links_to(message: str) -> str:
    return message.partition("/gb/gb")[2][:4].join(("GB", ""))


def _as_pasted(message: str) -> dict[str, str]:
    """Yield a message as logs, terminals and mails show it."""
    lines = message.splitlines()
    log = "[rank0]:V1116 00:01:58.989000 4463 torch/_dynamo/x.py:1759] [5/0] [__graph_breaks] "
    trace = (
        'Traceback (most recent call last):\n  File "t.py", line 3\ntorch._dynamo.exc.Unsupported: '
    )
    return {
        "whole": message,
        "from a log": "\n".join(log + line for line in lines),
        "from pytest, quoted": "\n".join(f"> E       {line}" for line in lines),
        "wrapped": "\n".join(line[i : i + 60] for line in lines for i in range(0, len(line), 60)),
        "with a traceback": trace + message,
        "at the end of a long log": '  File "t.py", line 3, in f\n' * 3000 + message,
        "without its link": message.partition("For more details")[0],
        "cut": message[:300],
        "from its explanation on": message[message.find("Explanation:") :],
    }


def test_real_messages_find_their_page(visit: Visit, messages: dict[str, str]) -> None:
    assert len(messages) == 50
    page = _ready(visit("index.html"))
    paste = """async texts => {
        const found = [];
        for (const text of texts) {
            const box = document.getElementById("q");
            box.value = text;
            box.dispatchEvent(new Event("input"));
            await null;
            found.push(document.querySelector("#answer .id").textContent);
        }
        return found;
    }"""
    assert page.evaluate(paste, [*messages.values()]) == [*messages]

    page.evaluate("window.search = new FullgraphSearch.Search(FULLGRAPH_INDEX)")
    first = "texts => texts.map(text => search.find(text)[0]?.entry.id)"
    missed: dict[str, list[str]] = {}
    for identifier, message in messages.items():
        forms = _as_pasted(message)
        for form, result in zip(forms, page.evaluate(first, [*forms.values()]), strict=True):
            if result != identifier:
                missed.setdefault(form, []).append(identifier)
    # Two entries can have the same text from the explanation on.
    assert all(len(ids) <= 2 for ids in missed.values()), missed
