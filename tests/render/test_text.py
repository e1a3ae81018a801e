"""The terminal report: its content, and that it stays readable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import torch
from torch import Tensor

import fullgraph
import fullgraph.render
from fullgraph.analysis import analyze
from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    Compile,
    Event,
    Frame,
    GuardFailure,
    Reason,
    Recompile,
    SourceLine,
    Stack,
)
from fullgraph.model.report import Failure, Report
from fullgraph.model.session import Header, Session
from fullgraph.registry.taxonomy import CATEGORIES, Category
from fullgraph.render import formats, kinds
from fullgraph.render import render as render_kind


def render(report: Report, format_: str, **options: object) -> str:
    return render_kind("report", report, format_, **options)


HEADER = Header(format=FORMAT_VERSION, fullgraph="1", directory="/home")


def occurrence(
    line: int,
    *,
    source: str = "    value = f(x)",
    column: int | None = 13,
    identifier: str = "GB0001",
) -> Break:
    frame = Frame("/home/model.py", line, "forward", column, end_column=17, code=source.strip())
    return Break(
        "0/0",
        Code("/home/model.py", 1, "forward", "Model.forward"),
        (Reason("Something unsupported", identifier, explanation="It is not supported."),),
        Stack((frame,), 1, (SourceLine(line, source),)),
    )


def report_of(*events: Event) -> Report:
    return analyze(
        [Session(HEADER, (*events, Compile("0/0", Code("/home/model.py", 1, "forward"))))]
    )


def test_a_root_cause_shows_its_location_its_impact_and_the_column() -> None:
    text = render(report_of(occurrence(7), occurrence(7)), "text", width=120)
    assert "1 root cause, 1 break site" in text
    assert "GB0001  Something unsupported" in text
    assert "model.py:7" in text
    assert "2 occurrences, splits Model.forward() in two" in text
    assert "> 7 | value = f(x)\n" in text
    assert "    |         ^^^^" in text
    assert "fullgraph explain GB0001" in text


def test_a_root_cause_names_three_fixers_in_a_terminal_and_all_in_a_file() -> None:
    source = "    if x.max().item() > 1:"
    report = report_of(occurrence(7, identifier="GB0124", source=source))
    listed = []
    for is_terminal in (True, False):
        text = render(report, "text", width=400, is_terminal=is_terminal)
        (line,) = (line for line in text.splitlines() if "fullgraph fix" in line)
        label, names = line.split("fullgraph fix can do this: ")
        assert label.strip() == "fix"
        listed.append(names)
    first, every = listed[0], listed[1].split(", ")
    assert every[0] == "capture_scalar_outputs"
    assert first == f"{', '.join(every[:3])} and {len(every) - 3} more"
    assert "fixers" not in render(report, "json")


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
    for line in render(report, "text", width=width, is_terminal=True).splitlines():
        # A path or a name has no place to break at; everything else wraps.
        if len(line) > width:
            assert len(line.split()) <= 3, line


def test_without_color_there_are_no_escapes() -> None:
    report = report_of(occurrence(7))
    assert "\x1b" not in render(report, "text")
    assert "\x1b[" in render(report, "text", color=True)
    assert re.sub(r"\x1b\[\d+m", "", render(report, "text", color=True)) == render(report, "text")


def test_control_characters_do_not_reach_the_terminal() -> None:
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
def test_the_pointer_is_under_the_call(source: str, column: int, pointer: str) -> None:
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
    assert "20 more root causes: fullgraph report --all kept" in text
    assert render(report, "text", top=None).count("GB0001  Something") == 30


def test_a_program_without_breaks_gets_one_line(compiled_call: Callable[..., Report]) -> None:
    text = render(compiled_call(lambda x: x + 1, torch.ones(2)), "text")
    assert re.fullmatch(
        r"fullgraph  no graph breaks · 1 graph, 1 op compiled · [\d.]+ s compiling\n", text
    )


def test_printing_a_report_or_a_watch_shows_the_same(compiled_call: Callable[..., Report]) -> None:
    with fullgraph.watch() as session:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    assert str(session) == str(session.report()) == render(session.report(), "text")


def test_formats_are_found_by_listing_the_folders() -> None:
    assert {"coverage", "purity", "report"} <= set(kinds())
    for kind in kinds():
        assert {"text", "json"} <= set(formats(kind)), kind
        assert not [name for name in formats(kind) if name.startswith("_")]


def test_a_new_kind_is_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "greeting").mkdir()
    (tmp_path / "greeting" / "__init__.py").write_text("")
    (tmp_path / "greeting" / "shout.py").write_text(
        "def render(value, **_):\n    return value.upper() + '\\n'\n"
    )
    monkeypatch.setattr(fullgraph.render, "_FOLDER", tmp_path)
    monkeypatch.setattr(fullgraph.render, "__path__", [str(tmp_path)])
    assert (kinds(), formats("greeting")) == (["greeting"], ["shout"])
    assert render_kind("greeting", "hello", "shout") == "HELLO\n"


def test_paths_are_relative_to_the_folder_of_the_packages_or_of_the_program() -> None:
    header = msgspec.structs.replace(HEADER, package_folders=("/home/.venv/site-packages",))
    frame = Frame("/home/.venv/site-packages/lib/x.py", 7, "f")
    event = msgspec.structs.replace(occurrence(7), stack=Stack((frame,), 1, ()))
    text = render(analyze([Session(header, (event,))]), "text")
    assert " lib/x.py:7" in text
    project = msgspec.structs.replace(HEADER, directory="/site-packages/project")
    frame = Frame("/site-packages/project/model.py", 7, "f")
    event = msgspec.structs.replace(occurrence(7), stack=Stack((frame,), 1, ()))
    assert " model.py:7  yours" in render(analyze([Session(project, (event,))]), "text")


# Errors while compiling.


def failure(error: str, **facts: object) -> Failure:
    fields = {"compile": "0/0", "function": "forward", "file": "/home/model.py", "line": 7}
    return Failure(**{**fields, "outcome": "raised", "error": error, **facts})  # type: ignore[arg-type]


def with_errors(*errors: Failure) -> Report:
    return msgspec.structs.replace(report_of(), errors=errors)


def test_an_error_while_compiling_is_the_headline_and_comes_first() -> None:
    broken = msgspec.structs.replace(report_of(occurrence(7)), errors=(failure("KeyError: 'x'"),))
    text = render(broken, "text")
    assert text.startswith("fullgraph  1 error while compiling, 1 root cause, 1 break site")
    assert text.index("KeyError") < text.index("GB0001")
    text = render(with_errors(failure("KeyError: 'x'")), "text")
    assert text.startswith("fullgraph  1 error while compiling, no graph breaks")


@pytest.mark.parametrize(
    ("error", "means", "advice"),
    [
        ("BackendCompilerFailed: backend='b' raised: no", "The backend", 'backend="aot_eager"'),
        ("TorchRuntimeError: RuntimeError", "An operation fails", "force_eager"),
        ("FailOnRecompileLimitHit: Hard failure", "compiled too often", "recompile_limit"),
        ("InternalTorchDynamoError: IndexError", "Dynamo itself failed", "torch.compiler.disable"),
        ("SomeOtherError: no", "not a graph break", "force_eager"),
    ],
)
def test_an_error_says_what_it_means_and_what_to_do(error: str, means: str, advice: str) -> None:
    text = " ".join(render(with_errors(failure(error)), "text").split())
    name, _, message = error.partition(": ")
    assert f"! {name} /home/model.py:7" in text.replace(" model.py:7", " /home/model.py:7")
    assert f"error {message}" in text
    assert means.lower() in text.lower()
    assert advice in text


def test_an_error_shows_the_line_that_failed_and_your_line() -> None:
    error = failure(
        "TorchRuntimeError: no",
        id="GB4315",
        type="TorchRuntimeError",
        file="/torch/nn/modules/linear.py",
        line=130,
        owner="torch",
        shown=Frame("/home/model.py", 9, "forward", code="y = self.layer(x)"),
        excerpt=(SourceLine(130, "    return F.linear(input)"),),
        column=12,
    )
    lines = render(with_errors(error), "text").splitlines()
    assert " !  GB4315  TorchRuntimeError" in lines
    assert "    model.py:9  torch  while compiling forward()" in lines
    assert "    > 9 | y = self.layer(x)" in lines
    assert "    in     /torch/nn/modules/linear.py:130  return F.linear(input)" in lines
    assert "    more   fullgraph explain GB4315" in lines


def test_the_same_error_is_shown_once_with_its_number() -> None:
    text = render(with_errors(*[failure("KeyError: 'x'")] * 3), "text")
    assert text.startswith("fullgraph  3 errors while compiling")
    assert text.count("KeyError") == 1
    assert "while compiling forward(), 3 times" in text


def test_a_suppressed_error_is_not_in_the_headline() -> None:
    text = render(with_errors(failure("KeyError: 'x'", outcome="skipped")), "text")
    assert text.startswith("fullgraph  no graph breaks")


# Locations that a reader can open.


def break_in_torch(*above: Frame) -> Break:
    file = "/packages/torch/_dynamo/polyfills/os.py"
    frames = (*above, Frame(file, 12, "stat", 5, code="return stat(p)"))
    excerpt = (SourceLine(12, "    return stat(p)"),)
    return msgspec.structs.replace(occurrence(7), stack=Stack(frames, len(frames), excerpt))


def located(*events: Event) -> list[str]:
    header = msgspec.structs.replace(
        HEADER, torch_folder="/packages/torch", package_folders=("/packages",)
    )
    return render(analyze([Session(header, events)]), "text").splitlines()


USER = Frame("/home/model.py", 7, "forward", code="if exists(p):")
LIBRARY = Frame("/packages/lib/x.py", 3, "f", code="return exists(p)")


def test_a_break_inside_of_torch_is_shown_at_your_line() -> None:
    lines = located(break_in_torch(USER))
    assert any(line.startswith("    model.py:7  torch") for line in lines)
    assert "    > 7 | if exists(p):" in lines
    assert "    in     torch/_dynamo/polyfills/os.py:12  return stat(p)" in lines
    # Your line is printed once.
    assert sum("exists(p)" in line for line in lines) == 1


def test_a_break_that_a_library_leads_to_is_shown_there_and_names_your_line() -> None:
    lines = located(break_in_torch(USER, LIBRARY))
    assert any(line.startswith("    lib/x.py:3  torch") for line in lines)
    assert "    > 3 | return exists(p)" in lines
    assert "    from   model.py:7  if exists(p):" in lines


def test_other_lines_that_lead_to_the_same_location_are_named() -> None:
    other = msgspec.structs.replace(USER, line=9, code="return exists(q)")
    lines = located(break_in_torch(USER), break_in_torch(other), break_in_torch(USER))
    assert "    and    model.py:9  return exists(q)" in lines
    assert sum("model.py:9" in line for line in lines) == 1


# Nothing is cut but in a terminal.


def recompile(*guards: str) -> Recompile:
    code = Code("/home/model.py", 1, "forward")
    return Recompile("0/1", code, (GuardFailure("0/0", guards),))


def test_recompile_reasons_are_wrapped_and_never_cut() -> None:
    guards = [f"x{number}: size(0) 2, now 3" for number in range(20)]
    report = report_of(recompile(*guards))
    for options in ({}, {"is_terminal": True}, {"width": 60, "is_terminal": True}):
        text = render(report, "text", **options)
        assert "…" not in text
        assert "; ".join(guards) in " ".join(text.split())


def test_source_and_explanations_are_cut_only_in_a_terminal() -> None:
    source = "    value = f(" + ", ".join(f"argument_{n}" for n in range(20)) + ")"
    event = occurrence(7, source=source)
    event = msgspec.structs.replace(event, reasons=(Reason("Long", None, "word " * 100 + "end"),))
    report = report_of(event)
    text = render(report, "text")
    assert "…" not in text
    assert source.strip() in text
    assert "word end" in " ".join(text.split())
    text = render(report, "text", is_terminal=True)
    assert "argument_19" not in text
    assert text.count("…") == 2
    assert "…" not in render(report, "text", is_terminal=True, top=None)


@pytest.mark.parametrize("category", CATEGORIES, ids=lambda each: each.name)
def test_a_category_is_plain_text_that_fits(category: Category) -> None:
    text = render_kind("category", category, "text", width=80)
    outside_code = [line for line in text.splitlines() if not line.startswith("    ")]
    assert max(map(len, outside_code)) <= 80
    assert not re.search(r"^(#|\||```)", text, re.MULTILINE)
    assert "\nWhat it is\n" in text
    # Nothing is lost but the marks.
    words = set(re.findall(r"\w+", category.page)) - {"python"}
    assert words <= set(re.findall(r"\w+", text))
