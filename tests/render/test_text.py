"""The terminal report: what it says, and that it stays readable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import msgspec
import pytest
import torch
from torch import Tensor

import fullgraph
from fullgraph.analysis import analyse
from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    Compile,
    Event,
    Frame,
    Reason,
    SourceLine,
    Stack,
)
from fullgraph.model.report import Report
from fullgraph.model.session import Header, Session
from fullgraph.render import formats, render

HEADER = Header(format=FORMAT_VERSION, fullgraph="1", directory="/home")


def occurrence(line: int, *, source: str = "    value = f(x)", column: int | None = 13) -> Break:
    frame = Frame("/home/model.py", line, "forward", column, end_column=17, code=source.strip())
    return Break(
        "0/0",
        Code("/home/model.py", 1, "forward", "Model.forward"),
        (Reason("Something unsupported", "GB0001", explanation="It is not supported."),),
        Stack((frame,), 1, (SourceLine(line, source),)),
    )


def report_of(*events: Event) -> Report:
    return analyse(
        [Session(HEADER, (*events, Compile("0/0", Code("/home/model.py", 1, "forward"))))]
    )


def test_a_cause_shows_its_place_its_effect_and_the_column() -> None:
    text = render(report_of(occurrence(7), occurrence(7)), "text", width=120)
    assert "1 cause, 1 break site" in text
    assert "GB0001  Something unsupported" in text
    assert "model.py:7" in text
    assert "2 occurrences, cuts Model.forward() in two" in text
    assert "> 7 | value = f(x)\n" in text
    assert "    |         ^^^^" in text
    assert "fullgraph explain GB0001" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(
    compiled_call: Callable[..., Report], width: int
) -> None:
    def talks(x: Tensor) -> Tensor:
        for index in range(3):
            print("", end="")
            x = x + index
        return x * x.sum().item()

    report = compiled_call(talks, torch.ones(2))
    for line in render(report, "text", width=width).splitlines():
        # A path or a name has no place to break at; everything else wraps.
        if len(line) > width:
            assert len(line.split()) <= 3, line


def test_without_colour_there_is_not_one_escape() -> None:
    report = report_of(occurrence(7))
    assert "\x1b" not in render(report, "text")
    assert "\x1b[" in render(report, "text", color=True)
    assert re.sub(r"\x1b\[\d+m", "", render(report, "text", color=True)) == render(report, "text")


def test_text_from_elsewhere_cannot_steer_the_terminal() -> None:
    event = occurrence(7, source="    x = '\x1b[2J\x07'")
    evil = Reason("evil \x1b[31m type", "GB0001", explanation="\x1b]0;title\x07")
    event = msgspec.structs.replace(event, reasons=(evil,))
    text = render(report_of(event), "text")
    assert not any(unicodedata.category(c) == "Cc" for c in text.replace("\n", ""))


@pytest.mark.parametrize(
    ("source", "column", "pointer"),
    [
        ("    value = f(x)", 13, "        ^^^^"),
        ("\tvalue = f(x)", 10, "        ^^^^"),
        ("    名前 = f(x)", 10, "       ^^^^"),
    ],
    ids=["spaces", "tab", "wide"],
)
def test_the_pointer_stands_under_the_call(source: str, column: int, pointer: str) -> None:
    frame = Frame("/home/model.py", 7, "f", column, end_column=column + 4)
    event = msgspec.structs.replace(
        occurrence(7), stack=Stack((frame,), 1, (SourceLine(7, source),))
    )
    lines = render(report_of(event), "text").splitlines()
    row = next(index for index, line in enumerate(lines) if "> 7 |" in line)
    assert lines[row + 1].split("| ", 1)[1] == pointer


def test_a_break_without_source_or_column_is_still_shown() -> None:
    event = msgspec.structs.replace(occurrence(7), stack=Stack((Frame("<string>", 7, "f"),), 1, ()))
    text = render(report_of(event), "text")
    assert "<string>:7" in text
    assert "^" not in text


def test_long_reports_show_the_top_and_say_how_to_see_the_rest() -> None:
    report = report_of(*(occurrence(line) for line in range(1, 31)))
    text = render(report, "text", rest="fullgraph report --all kept")
    assert text.count("GB0001  Something") == 10
    assert "20 more causes: fullgraph report --all kept" in text
    assert render(report, "text", top=None).count("GB0001  Something") == 30


def test_nothing_to_say_is_said_in_one_line(compiled_call: Callable[..., Report]) -> None:
    text = render(compiled_call(lambda x: x + 1, torch.ones(2)), "text")
    assert re.fullmatch(
        r"fullgraph  no graph breaks · 1 graph, 1 op compiled · [\d.]+ s compiling\n", text
    )


def test_printing_a_report_or_a_watch_shows_the_same(compiled_call: Callable[..., Report]) -> None:
    with fullgraph.watch() as session:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    assert str(session) == str(session.report()) == render(session.report(), "text")


def test_formats_are_found_by_looking_at_the_folder() -> None:
    assert {"text", "json"} <= set(formats())
