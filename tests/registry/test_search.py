"""Words of a query find entries: those with all words, and words in the type, come first."""

from __future__ import annotations

import pytest

from fullgraph.registry.entries import Wording
from fullgraph.registry.search import search


def entry(type_: str, explanation: str = "", hint: str = "", context: str = "") -> Wording:
    return Wording(type_, context, explanation, (hint,) if hint else ())


ENTRIES = {
    "GB0001": (entry("Cannot juggle", "A ball has no shape."),),
    "GB0002": (entry("Ball without_shape"), entry("Earlier apple")),
    "GB0003": (entry("Sock", "msg", hint="Look for the ball."),),
    "GB0004": (entry("Sock", context="Zebra crossing"),),
    "GB0005": (entry("Footballs"),),
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        # In the type, in other fields, then inside a longer word of the type.
        ("ball", ["GB0002", "GB0005", "GB0001", "GB0003"]),
        ("BALL, ball", ["GB0002", "GB0005", "GB0001", "GB0003"]),
        # With all words: the others are no results.
        ("ball shape", ["GB0002", "GB0001"]),
        ("ball juggle", ["GB0001"]),
        # A part of a word with an underscore is a word as well.
        ("without", ["GB0002"]),
        ("without_shape", ["GB0002"]),
        # The type of an earlier wording, hints, and the context.
        ("apple", ["GB0002"]),
        ("look", ["GB0003"]),
        ("zebra", ["GB0004"]),
        # An explanation that is a variable in torch's source has a readable name.
        ("message", ["GB0003"]),
        # If no entry has all words, one word less than the best has is enough.
        ("ball juggle shape zebra", ["GB0001", "GB0002"]),
        ("sock", ["GB0003", "GB0004"]),
        ("giraffe", []),
        ("", []),
        ("a", []),
    ],
)
def test_results_are_in_the_order_of_their_worth(query: str, found: list[str]) -> None:
    assert search(ENTRIES, query) == found


def test_there_are_at_most_as_many_results_as_wanted() -> None:
    assert search(ENTRIES, "ball", most=2) == ["GB0002", "GB0005"]
    assert len(search({f"GB{n:04}": (entry("Same"),) for n in range(30)}, "same")) == 20


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    entries = {f"GB{n:04}": (entry("Tensor"),) for n in range(9)}
    entries["GB1000"] = (entry("Other", "zebra tensor"),)
    entries["GB1001"] = (entry("Zebra"),)
    assert search(entries, "zebra tensor")[0] == "GB1000"
    assert search(entries, "zebra giraffe") == ["GB1001", "GB1000"]
