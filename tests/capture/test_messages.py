"""Parsing the message of a graph break."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.capture.messages import parse_message
from fullgraph.model.events import Reason

words = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12
)
sentences = st.lists(words, min_size=1, max_size=8).map(" ".join)
paragraphs = st.lists(sentences, min_size=1, max_size=3).map("\n".join)
reasons = st.builds(
    Reason,
    type=sentences,
    explanation=paragraphs,
    hints=st.lists(paragraphs, max_size=3).map(tuple),
    context=paragraphs,
)


def written(reason: Reason) -> str:
    """As torch writes it: fields indented by two, what follows in a field by four."""
    indented = [hint.replace("\n", "\n    ") for hint in reason.hints]
    hints = "\n".join(f"  Hint: {hint}" for hint in indented)
    explanation = reason.explanation.replace("\n", "\n    ")
    context = reason.context.replace("\n", "\n    ")
    return (
        f"{reason.type}\n  Explanation: {explanation}\n{hints}\n\n"
        f"  Developer debug context: {context}\n\n"
        " For more details about this graph break, please visit: somewhere"
    )


NEXT = "\n\n*** While handling this graph break, another graph break occurred: ***\n\n"


@given(st.lists(reasons, min_size=1, max_size=3))
def test_what_was_written_is_read_back(chain: list[Reason]) -> None:
    assert parse_message(NEXT.join(map(written, chain))) == tuple(chain)


@given(reasons)
def test_the_sentence_before_and_the_stack_after_are_dropped(reason: Reason) -> None:
    text = f"Encountered graph break when tracing CALL:\n\n{written(reason)}\n\nfrom user code:\n x"
    assert parse_message(text) == (reason,)


@given(st.text())
def test_any_text_can_be_parsed(text: str) -> None:
    assert len(parse_message(text)) >= 1


def test_text_of_another_shape_is_one_break_named_by_its_first_line() -> None:
    assert parse_message("STORE_ATTR-caused graph break") == (
        Reason(type="STORE_ATTR-caused graph break"),
    )
