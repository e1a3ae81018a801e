"""Reading answers: whole, in pieces of every size, and with what must not reach a terminal."""

from __future__ import annotations

import json

import pytest

from fullgraph.ai.answer import FORM, read_answer
from fullgraph.ai.errors import NoAnswerError
from fullgraph.ai.escapes import EscapeRemover, without_escapes
from fullgraph.ai.partial_answer import PartialAnswer
from fullgraph.commands._live_answer import LiveAnswer
from fullgraph.terminal import Terminal
from tests.ai.answers import GOOD, answer

MINIMAL = {"cause": "A", "why": "B", "change": "C"}


def test_the_form_has_the_fields_of_an_answer() -> None:
    assert set(FORM["properties"]) == set(FORM["required"]) == set(GOOD)


@pytest.mark.parametrize(
    "text", ["{}", "```json\n{}\n```", "Here it is:\n{}\nI hope it helps {{}}", "\n\n{} "]
)
def test_words_and_a_fence_around_the_object_do_not_matter(text: str) -> None:
    read = read_answer(text.replace("{}", answer(), 1), "m")
    assert (read.cause, read.snippet) == (GOOD["cause"], GOOD["snippet"])


def test_lists_and_numbers_may_have_another_form() -> None:
    loose = {
        **MINIMAL, "lines": 41, "facts": ["F1", 2, None, "F1"], "names": None, "confidence": 0.9,
        "settings": "a.b", "category": ["python"], "snippet": "```python\nx = 1\n```", "more": {},
    }  # fmt: skip
    read = read_answer(json.dumps(loose), "m")
    assert (read.lines, read.facts, read.names) == (("41",), ("F1", "2"), ())
    assert (read.confidence, read.settings, read.category) == ("0.9", ("a.b",), "")
    assert read.snippet == "x = 1"


@pytest.mark.parametrize(
    "text",
    ["", "no", "[]", "3", "{", '{"cause": "A"', json.dumps([MINIMAL])[:-9],
     json.dumps({**MINIMAL, "cause": " "}), json.dumps({**MINIMAL, "why": {}}), "{" * 5000],
)  # fmt: skip
def test_another_form_is_no_answer(text: str) -> None:
    with pytest.raises(NoAnswerError, match="did not answer in the form"):
        read_answer(text, "m")


EVIL = "a\x1b[1;31mb\x1b]0;t\x07c\x1b]8;;http://x\x1b\\d\x9b1me\x90q\x9cf\x1b(Bg\x1bch\x00i\u202ej"


def test_sequences_go_wherever_they_are_cut() -> None:
    whole = without_escapes(EVIL)
    assert whole == "abcdefgh\ufffdi\ufffdj"
    for first in range(len(EVIL)):
        for second in range(first, len(EVIL), 3):
            remover = EscapeRemover()
            parts = (EVIL[:first], EVIL[first:second], EVIL[second:])
            assert "".join(map(remover.feed, parts)) == whole


def test_a_sequence_without_an_end_does_not_swallow_the_rest() -> None:
    assert without_escapes("a\x1b]0;title\nb") == "a\nb"
    assert without_escapes("a\x1b[\nb") == "a\nb"
    assert without_escapes("\x1b]" + "x" * 600 + "end").endswith("end")


def test_texts_are_read_from_pieces_of_any_size() -> None:
    text = (
        'So:\n```json\n{"cause": "a \\"q\\" \\u00e9\\ud83d\\ude00\\n\\\\", "in": {"cause": "no"}, '
    )
    text += (
        '"lines": ["no", {"why": "no"}], "why": "", "change": "x\\ud83dy", "n": 3, "why": "é"}x"z"'
    )
    expected = {"cause": 'a "q" é😀\n\\', "change": "xy", "why": "é"}
    for size in range(1, 20):
        reader, found = PartialAnswer(), dict[str, str]()
        for start in range(0, len(text), size):
            for piece in reader.feed(text[start : start + size]):
                found[piece.field] = found.get(piece.field, "") + piece.text
        assert found == expected


class _Screen:
    """What a terminal shows of what is written to it."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.lines = [""]
        self.column = 0

    def write(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self.lines.append("")
                self.column = 0
            elif character == "\b":
                self.column -= 1
            else:
                line = self.lines[-1]
                self.lines[-1] = line[: self.column] + character + line[self.column + 1 :]
                self.column += 1

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_lines_are_wrapped_between_words_however_the_text_arrives(size: int) -> None:
    text = answer(cause="Reading a number from a tensor makes Dynamo stop here. " * 2, why="No.")
    screen = _Screen()
    live = LiveAnswer(screen, Terminal(40))  # type: ignore[arg-type]
    for start in range(0, len(text), size):
        live.feed(text[start : start + size])
    live.end()
    shown = [line.rstrip() for line in screen.lines]
    assert shown[1:7] == [
        "cause     Reading a number from a tensor",
        "          makes Dynamo stop here.",
        "          Reading a number from a tensor",
        "          makes Dynamo stop here.",
        "why       No.",
        "worth it  It splits forward in two.",
    ]
    assert "    return x / torch.clamp(scale, min=1.0)" in shown
