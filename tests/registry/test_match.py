from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullgraph.registry.entries import Wording, read_registry
from fullgraph.registry.match import Found, Matcher
from fullgraph.registry.message_templates import joined_hints, readable, readable_type
from fullgraph.registry.sources import require_installed
from tests.registry.fake_torch import registry_bytes

HOLE = re.compile("‹[^›]*›")
NEXT = "\n\n*** While handling this graph break, another graph break occurred: ***\n\n"
# Values from real messages, and some that try to mislead.
VALUES = (
    "x",
    "",
    "MyModel()",
    "<function f at 0x7f12>",
    "{'a': 1}",
    "two\nlines",
    "Data-dependent branching",
    "Explanation: not one",
    "GB0001",
    "[W1116 00:00]",
)
Fill = Callable[[str], str]


def message(wording: Wording, fill: Fill) -> str:
    """Return a message of Dynamo, with values for its placeholders."""

    def indented(text: str) -> str:
        return textwrap.indent(fill(text), "    ").lstrip()

    hints = "\n".join(f"  Hint: {indented(hint)}" for hint in joined_hints(wording.hints))
    type_ = HOLE.sub("__mro__", readable_type(wording.type))
    return (
        f"{type_}\n  Explanation: {indented(readable(wording.explanation))}\n{hints}\n\n"
        f"  Developer debug context: {indented(readable(wording.context))}"
    )


def as_exception(text: str) -> str:
    return (
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    step(x)\n'
        f"torch._dynamo.exc.Unsupported: {text}\n\nfrom user code:\n"
        '   File "train.py", line 9, in step\n    return x.item()\n\n'
        "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n"
    )


def as_log(text: str) -> str:
    prefix = "V1116 00:01:58.989000 4463 torch/_dynamo/symbolic_convert.py:1759] [5/0] "
    head = "[__graph_breaks] Graph break in user code at train.py:9\n"
    lines = f"{head}Graph Break Reason: {text}\nUser code traceback:\n".splitlines()
    return "\n".join(f"[rank0]:{prefix}[__graph_breaks] {line}" for line in lines)


def as_pytest(text: str) -> str:
    return "\n".join(f"E       {line}" for line in as_exception(text).splitlines())


def as_quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def wrapped(text: str, width: int = 37) -> str:
    """Return the text wrapped like in a terminal: anywhere, even inside a word."""
    return "\n".join(
        line[start : start + width]
        for line in text.splitlines()
        for start in range(0, max(len(line), 1), width)
    )


def colored(text: str) -> str:
    return f"\x1b[31m{text}\x1b[0m".replace("Explanation", "\x1b[1mExplanation\x1b[0m")


FORMS: tuple[Callable[[str], str], ...] = (
    str,
    as_exception,
    as_log,
    as_pytest,
    as_quote,
    wrapped,
    colored,
    lambda text: wrapped(as_log(text), 61),
)


def best(found: tuple[Found, ...]) -> str | None:
    return found[0].candidates[0].id if found else None


@pytest.fixture(scope="module")
def installed() -> Matcher:
    return Matcher(require_installed().entries)


@pytest.mark.parametrize("form", FORMS)
def test_every_message_of_the_installed_torch_finds_its_entry(
    form: Callable[[str], str], installed: Matcher
) -> None:
    chance = random.Random(3)

    def fill(text: str) -> str:
        return HOLE.sub(lambda _: chance.choice(VALUES), text)

    wrong = {}
    for identifier, wordings in require_installed().entries.items():
        found = installed.find(form(message(wordings[0], fill)))
        if best(found) != identifier:
            wrong[identifier] = found
    assert not wrong


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_values_cannot_mislead(data: st.DataObject) -> None:
    entries = require_installed().entries
    matcher = Matcher(entries)
    identifier = data.draw(st.sampled_from(sorted(entries)))
    values = st.text(max_size=30).filter(lambda text: "Explanation:" not in "".join(text.split()))
    text = message(entries[identifier][0], lambda text: HOLE.sub(lambda _: data.draw(values), text))
    assert best(matcher.find(data.draw(st.sampled_from(FORMS))(text))) == identifier


def test_older_wordings_are_found_too(installed: Matcher) -> None:
    entries = require_installed().entries
    missed = {
        identifier
        for identifier, wordings in entries.items()
        for wording in wordings[1:]
        if identifier
        not in {
            candidate.id
            for found in installed.find(message(wording, lambda text: HOLE.sub("x", text)))
            for candidate in found.candidates
        }
    }
    assert not missed


def test_a_type_alone_is_enough(installed: Matcher) -> None:
    wrong = []
    for identifier, wordings in require_installed().entries.items():
        found = installed.find(HOLE.sub("x", readable_type(wordings[0].type)))
        if best(found) != identifier or len(found) != 1:
            wrong.append((identifier, found))
    assert not wrong


@pytest.fixture
def fake_torch() -> Matcher:
    return Matcher(read_registry(registry_bytes(), "here"))


def test_a_part_of_a_message(fake_torch: Matcher) -> None:
    (found,) = fake_torch.find("Nobody taught the tracer how to juggle Ball objects.")
    assert [(each.id, each.by) for each in found.candidates] == [("GB0001", "explanation")]
    (found,) = fake_torch.find("  Hint: Put the balls down before\n     you compile.")
    assert found.candidates[0].id == "GB0001"


def test_several_breaks_in_their_order(fake_torch: Matcher) -> None:
    one, two = (
        message(fake_torch._entries[identifier][0], lambda text: HOLE.sub("x", text))
        for identifier in ("GB0002", "GB0001")
    )
    assert [best((found,)) for found in fake_torch.find(one + NEXT + two)] == ["GB0002", "GB0001"]
    assert [best((found,)) for found in fake_torch.find(as_log(one) + "\n" + as_log(two))] == [
        "GB0002",
        "GB0001",
    ]
    assert len(fake_torch.find(as_log(one) + "\n" + as_log(one))) == 1


def test_entries_with_one_type_are_told_apart_or_both_shown() -> None:
    def wording(explanation: str) -> dict[str, object]:
        return {"Gb_type": "Same name", "Context": "", "Explanation": explanation, "Hints": []}

    entries = read_registry(
        registry_bytes(
            {
                "GB0001": [wording("The first one of them, of {kind}.")],
                "GB0002": [wording("The second one of them, of {kind}.")],
            }
        ),
        "here",
    )
    matcher = Matcher(entries)
    matches = matcher.find("Same name\n  Explanation: The second one of them, of x.")
    assert [each.id for each in matches[0].candidates] == ["GB0002"]
    (both,) = matcher.find("Same name")
    assert both.ambiguous
    assert [each.id for each in both.candidates] == ["GB0001", "GB0002"]


def test_links_and_ids(fake_torch: Matcher) -> None:
    link = "please visit: https://example.org/site/gb/gb0003.html"
    assert best(fake_torch.find(link)) == "GB0003"
    assert best(fake_torch.find(wrapped(link, 20))) == "GB0003"
    assert best(fake_torch.find("it says GB0002 somewhere")) == "GB0002"
    assert fake_torch.find("https://example.org/gb/gb9999.html and GB9998") == ()


@pytest.mark.parametrize(
    "text", ["", "  \n", "nothing of the kind", "Cannot jug", "Explanation: x"]
)
def test_what_is_about_no_entry_finds_none(fake_torch: Matcher, text: str) -> None:
    assert fake_torch.find(text) == ()


def test_a_type_inside_a_word_is_none() -> None:
    wording = {"Gb_type": "print", "Context": "", "Explanation": "", "Hints": []}
    registry = {"GB0001": [{**wording, "Gb_type": "sprinter"}]}
    matcher = Matcher(read_registry(registry_bytes(registry), "here"))
    assert matcher.find("two sprinters ran") == ()
    assert best(matcher.find("one sprinter ran")) == "GB0001"


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_looked_up(text: str) -> None:
    Matcher(read_registry(registry_bytes(), "here")).find(text)


# Small registries, whose every answer is known


def matcher_of(**entries: tuple[str, str, str, tuple[str, ...]]) -> Matcher:
    """Return a matcher of entries with one wording each: type, explanation, context and hints."""
    return Matcher(
        {
            name: (Wording(type_, context, explanation, hints),)
            for name, (type_, explanation, context, hints) in entries.items()
        }
    )


FEW = matcher_of(
    GB0001=("Cannot juggle", "The tracer never learned to juggle {thing}.", "", ("Drop it now.",)),
    GB0002=("Cannot juggle balls", "The tracer has no hands for {a} and {b}.", "", ()),
    GB0003=("Missing {name} slot", "", "the slot {x} of this class is not there", ()),
    GB0004=("Sock", "", "", ("Look for it in the other drawer.", "Ask somebody who is taller.")),
    GB0005=("Another sock", "", "", ("Ask somebody who is taller.",)),
    GB0006=("{msg}", "", "", ()),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Of two types that fit, the longer one.
        ("it says Cannot juggle balls today", [("GB0002", "type")]),
        ("Cannot juggle balls\n  Explanation: x", [("GB0002", "type")]),
        ("Cannot juggle; then Cannot juggle balls", [("GB0001", "type"), ("GB0002", "type")]),
        ("Cannot juggle, again: Cannot juggle", [("GB0001", "type")]),
        ("Cannot jugglers", []),
        # A type with a value in it, in prose and in a message.
        ("Missing __len__ slot", [("GB0003", "type")]),
        ("Unsupported: Missing __len__ slot\n Explanation: nothing", [("GB0003", "type")]),
        # A type that is too short counts in a message only.
        ("a Sock was lost", []),
        ("Sock\n  Explanation: -", [("GB0004", "type")]),
        # Explanations with other values, but with their parts in order.
        ("The tracer has no hands for 1 and 2.", [("GB0002", "explanation")]),
        ("and . The tracer has no hands for", []),
        # Hints that one entry has; a shared one says nothing.
        ("Look for it in the other drawer.", [("GB0004", "hint")]),
        ("Ask somebody who is taller.", []),
        ("Drop it now.", []),
        ("the slot 7 of this class is not there", [("GB0003", "context")]),
        # A type wins over an id, and an id over nothing.
        ("GB0002: Cannot juggle", [("GB0001", "type")]),
        ("GB0004 GB0002 gb0004", [("GB0004", "id"), ("GB0002", "id")]),
        ("AGB0004 GB00041", []),
        ("https://example.org/gb/gb0005.html", [("GB0005", "link")]),
    ],
)
def test_an_answer_names_the_entry_and_how_it_was_found(
    text: str, found: list[tuple[str, str]]
) -> None:
    answer = [(each.candidates[0].id, each.candidates[0].by) for each in FEW.find(text)]
    assert answer == found


def test_an_explanation_that_mentions_the_type_of_another_entry_is_not_about_it() -> None:
    matcher = matcher_of(
        GB0001=("Cannot juggle", "It said so.", "", ()),
        GB0002=("Lost sock", "This came after Cannot juggle in the list of breaks.", "", ()),
    )
    (found,) = matcher.find("This came after Cannot juggle in the list of breaks.")
    assert [(each.id, each.by) for each in found.candidates] == [("GB0002", "explanation")]
    (found,) = matcher.find("This came after Cannot juggle")
    assert [(each.id, each.by) for each in found.candidates] == [("GB0001", "type")]


def test_the_longest_explanation_that_fits_wins_and_equal_ones_are_all_shown() -> None:
    same = "One explanation for two entries."
    matcher = matcher_of(
        GB0001=("First", same, "", ()),
        GB0002=("Second", same, "", ()),
        GB0003=("Third", same + " And more.", "", ()),
    )
    (found,) = matcher.find(same)
    assert [each.id for each in found.candidates] == ["GB0001", "GB0002"]
    assert found.ambiguous
    (found,) = matcher.find(same + " And more.")
    assert [each.id for each in found.candidates] == ["GB0003"]
    assert not found.ambiguous


def test_a_link_or_the_fields_decide_between_entries_of_one_type() -> None:
    matcher = matcher_of(
        GB0001=("Same name", "", "", ("Put it down.", "Walk away.")),
        GB0002=("Same name", "", "", ("Put it down.",)),
        GB0003=("Same name", "", "", ()),
    )

    def ids(text: str) -> list[str]:
        (found,) = matcher.find(f"Same name\n  Explanation:\n{text}")
        return [each.id for each in found.candidates]

    assert ids("") == ["GB0001", "GB0002", "GB0003"]
    assert ids("  Hint: Put it down.\n  Hint: Walk away.") == ["GB0001"]
    assert ids("  Hint: Put it down.") == ["GB0001", "GB0002"]
    assert ids("see https://x.y/gb/gb0003.html") == ["GB0003"]
    assert ids("  Hint: Put it down. https://x.y/gb/gb0002.html") == ["GB0002"]


def test_the_newest_wording_with_a_type_comes_first() -> None:
    old, new = Wording("Same name", "", "", ()), Wording("Other name", "", "", ())
    matcher = Matcher({"GB0001": (new, old), "GB0002": (old,)})
    (found,) = matcher.find("Same name")
    assert [(each.id, each.wording) for each in found.candidates] == [("GB0002", 0), ("GB0001", 1)]


def test_a_prefix_inside_of_a_line_is_removed_and_words_after_it_begin() -> None:
    prefix = "[rank1]:V1116 00:01:58.989000 4463 torch/_dynamo/x.py:1759] [5/0] [__graph_breaks] "
    plain = "it says Cannot juggle balls today"
    assert FEW.find(prefix + plain) == FEW.find(plain)
    assert FEW.find(f"{prefix}first line\n{prefix}Cannot juggle\n{prefix}Missing x slot\n") == (
        *FEW.find("Cannot juggle"),
        *FEW.find("Missing x slot"),
    )
    # Without the prefix, the words of two lines do not make one.
    assert FEW.find(f"Cannot jugg\n{prefix}le balls")[0].candidates[0].id == "GB0002"
    assert FEW.find(f"XCannot\n{prefix}juggle") == ()
