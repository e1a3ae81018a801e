"""The page of a break: the answer first, nothing twice, and words for placeholders."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import pytest
from msgspec.structs import replace

from fullgraph.catalog.parse import Example, read_example
from fullgraph.catalog.verdicts import Outcome, Verdict
from fullgraph.site.model import Mark, ReleaseMark, SiteData
from fullgraph.site.placeholders import plain, words_for
from fullgraph.site.run_on import run_sentence, upgrade_sentence

FOLDED = re.compile(r"<details.*?</details>", re.DOTALL)
PARAGRAPH = re.compile(r"<p[^>]*>(.*?)</p>", re.DOTALL)
SECTION = re.compile(r'<section id="([a-z]+)"')


@pytest.fixture(scope="module")
def articles(pages: dict[str, bytes]) -> dict[str, str]:
    """Return the article of every break, by id."""
    return {
        path[3:-5].upper(): html.decode().partition("<article")[2].partition("</article>")[0]
        for path, html in pages.items()
        if path.startswith("gb/gb")
    }


def _text(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", "", html.replace("<br>", " "))).split())


def test_the_answer_comes_first(articles: dict[str, str]) -> None:
    assert SECTION.findall(articles["GB0170"]) == [
        "example", "fix", "why", "source", "history", "related", "info",
    ]  # fmt: skip
    assert SECTION.findall(articles["GB0059"])[:3] == ["example", "fix", "variants"]
    ways = re.findall('<p class="source">([^<]*)</p>', articles["GB0170"])
    assert ways == ["Verified fix", "Verified fix", "Automatic", "torch’s hints", "In general"]


def test_an_upgrade_comes_before_all_other_fixes(
    articles: dict[str, str], installed_site: SiteData
) -> None:
    gone = [each for each in installed_site.breaks.values() if each.page.gone_since]
    assert len(gone) > 50
    for each in gone:
        assert re.findall('<p class="source">([^<]*)</p>', articles[each.id])[0] == "Upgrade torch"
    assert "Upgrade torch" not in articles["GB0124"]


def test_nothing_is_on_a_page_twice(articles: dict[str, str]) -> None:
    # Each variant says where it was run, and several of torch's hints may end with one sentence.
    ignored = re.compile(r'<(pre|nav|aside|svg|p class="run).*?</(pre|nav|aside|svg|p)>', re.DOTALL)
    hints = re.compile(r'<li class="hint">.*?</li>', re.DOTALL)
    for identifier, html in articles.items():
        shown = ignored.sub("", FOLDED.sub("", html))
        sentences = _sentences(hints.sub("", shown))
        paragraphs = [_text(each) for each in PARAGRAPH.findall(shown)]
        for texts in (paragraphs, sentences):
            counts = Counter(each for each in texts if len(each) > 30)
            assert not [each for each, number in counts.items() if number > 1], identifier


def _sentences(html: str) -> list[str]:
    texts = [_text(each) for each in PARAGRAPH.findall(html)]
    return [sentence for text in texts for sentence in re.split(r"(?<=[.!?]) ", text)]


def test_what_torch_prints_is_there_once_and_folded(
    articles: dict[str, str], installed_site: SiteData
) -> None:
    each = installed_site.breaks["GB0124"]
    folded = _text("".join(FOLDED.findall(articles["GB0124"])))
    explanation = " ".join(plain(each.page.explanation).split())
    assert f"Explanation: {explanation}" in folded
    assert all(f"Hint: {' '.join(plain(hint).split())}" in folded for hint in each.page.hints)
    assert "Developer debug context: " in folded
    assert explanation not in _text(FOLDED.sub("", articles["GB0124"]))


def test_without_an_example_the_message_is_the_first_thing(articles: dict[str, str]) -> None:
    for identifier in ("GB0038", "GB0216"):
        html = articles[identifier]
        assert '<details id="message"' not in html
        assert 0 < html.index('<figure class="code terminal">') < html.index('id="fix"')
    assert "It needs Triton" in _text(articles["GB0216"])


def test_variants_are_cards_with_their_own_code(articles: dict[str, str]) -> None:
    cards = re.findall(r'class="variant" id="([^"]*)"', articles["GB0059"])
    assert cards == ["gb0059-breakpoint", "gb0059-open"]
    chips = re.findall(r'<a href="#([^"]*)"><code>([^<]*)</code></a>', articles["GB0059"])
    assert chips == [
        ("example", "print"), ("gb0059-breakpoint", "breakpoint"), ("gb0059-open", "open"),
    ]  # fmt: skip
    assert articles["GB0059"].count("<figcaption>Breaks<") == 3
    assert 'class="variant' not in articles["GB0124"]


def test_placeholders_are_words(articles: dict[str, str]) -> None:
    for identifier, html in articles.items():
        assert "‹" not in html, identifier
        for words in re.findall("<var>([^<]*)</var>", html):
            assert "_" not in words.replace("__", ""), (identifier, words)
    assert "dynamic control flow. what torch knows" in _text(articles["GB0170"])


def test_words_for_common_names_and_a_rule_for_others() -> None:
    assert words_for("real_arg_types") == "types of the arguments"
    assert words_for("type of fn") == "type of the function"
    assert words_for("number of kwargs") == "number of the keyword arguments"
    assert words_for("self.some_new_name") == "some new name"
    assert words_for("") == "value"
    assert plain("Failed on ‹fn›.‹more_info›") == "Failed on function. more info"


def _example() -> Example:
    example = read_example("GB0170")
    assert example is not None
    return example


def _run(*outcomes: tuple[Outcome, Mark]) -> str:
    releases = [f"2.{number + 8}.0" for number in range(len(outcomes))]
    history = [ReleaseMark(r, mark, False) for r, (_, mark) in zip(releases, outcomes, strict=True)]
    fixes = tuple(fix.name for fix in _example().fixes[:1])
    verdicts = {
        release: Verdict(outcome, fixes if outcome == "fix_fails" else ())
        for release, (outcome, _) in zip(releases, outcomes, strict=True)
    }
    return run_sentence(_example(), verdicts, history)


def test_an_example_says_where_it_was_run_and_what_differs() -> None:
    assert _run() == "It was not run on any release yet."
    assert _run(("holds", "live"), ("holds", "live")) == "Run on torch 2.8 and 2.9."
    said = _run(("no_break", "absent"), ("holds", "live"), ("other_break", "retired"))
    assert said.startswith("Run on torch 2.8, 2.9 and 2.10. It holds on 2.9.")
    assert "On 2.8, which does not have this break, it compiles without one." in said
    assert "On 2.10, it has another break instead." in said
    assert "but `fixed` does not work" in _run(("fix_fails", "live"))
    assert "not exactly as described" in _run(("differs", "live"))
    assert "cannot be run" in _run(("not_run", "live"))


def test_an_upgrade_is_said_to_help_only_if_it_was_tried(installed_site: SiteData) -> None:
    each = installed_site.breaks["GB0170"]

    def said(outcome: Outcome, gone_since: str | None = "2.14.0") -> str:
        page = replace(each.page, gone_since=gone_since)
        verdicts = {"GB0170": {"2.13.0": Verdict("holds"), "2.15.0": Verdict(outcome)}}
        return upgrade_sentence(replace(each, page=page, verdicts=verdicts))

    start = "torch 2.14 and later no longer raise this break. "
    helps = "On 2.15, the example compiles without it."
    assert said("no_break") == start + helps
    assert said("other_break") == f"{start}On 2.15, the example has another break, though."
    assert said("holds") == f"{start}The same code can have another break there."
    assert said("no_break", None) == f"torch 2.15 can still raise this break. {helps}"
    assert said("holds", None) == ""
    assert said("other_break", None) == ""
