"""Names, columns and stacks of Python and Dynamo, as the user knows them."""

from __future__ import annotations

import linecache
import sys
from traceback import FrameSummary

import pytest

from fullgraph.capture import stacks
from fullgraph.capture.stacks import (
    UNKNOWN_SPAN,
    Span,
    build_stack,
    describe_code,
    describe_frame,
    nearest_caller,
    plain_name,
    resume_name,
    running_frames_of,
    traced_frames,
    traced_stack,
)
from fullgraph.model.events import Code, Frame, SourceLine

FILE = "invented.py"
LINES = [f"line_{number}('é', {number})\n" for number in range(1, 21)]
RESUME = "torch_dynamo_resume_in_{}_at_{}"


@pytest.fixture(autouse=True)
def _file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(linecache.cache, FILE, (1, None, LINES, FILE))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("f", ("f", None)),
        (RESUME.format("f", 12), ("f", 12)),
        (RESUME.format(RESUME.format("f", 3), 12), ("f", 12)),
        (RESUME.format("f", "x"), (RESUME.format("f", "x"), None)),
        (f"my_{RESUME.format('f', 1)}", (f"my_{RESUME.format('f', 1)}", None)),
    ],
)
def test_the_name_of_a_continuation_is_that_of_its_function(
    name: str, expected: tuple[str, int | None]
) -> None:
    assert plain_name(name) == expected
    assert plain_name(resume_name(*expected)) == expected


def test_code_has_the_name_with_its_class() -> None:
    class Model:
        def forward(self) -> None: ...

    code = Model.forward.__code__
    qualified = f"{test_code_has_the_name_with_its_class.__name__}.<locals>.Model.forward"
    assert describe_code(code) == Code(code.co_filename, code.co_firstlineno, "forward", qualified)
    name = RESUME.format("forward", 9)
    renamed = code.replace(co_name=name, co_qualname=qualified.replace("forward", name))
    assert describe_code(renamed) == Code(
        code.co_filename, code.co_firstlineno, "forward", qualified, 9
    )


def summary(line: int, name: str = "f", file: str = FILE, **columns: int | None) -> FrameSummary:
    known = {"colno": None, "end_colno": None, "end_lineno": None, **columns}
    return FrameSummary(file, line, name, lookup_line=False, **known)


def test_columns_count_characters_and_an_end_on_the_same_line_is_left_out() -> None:
    # `line_3('é', 3)` has one byte more than characters.
    (found,) = traced_frames([summary(3, colno=12, end_colno=13, end_lineno=3)])
    assert found == Frame(FILE, 3, "f", 12, None, 13, "line_3('é', 3)")
    (found,) = traced_frames([summary(3, colno=0, end_colno=12, end_lineno=5)])
    assert found == Frame(FILE, 3, "f", 1, 5, 12, "line_3('é', 3)")
    (found,) = traced_frames([summary(3)])
    assert found == Frame(FILE, 3, "f", code="line_3('é', 3)")
    # Without the source, only the bytes are known.
    (found,) = traced_frames([summary(3, file="no.py", colno=12, end_colno=13)])
    assert found == Frame("no.py", 3, "f", 13, None, 14)


def test_a_stack_has_the_columns_of_translators_for_its_inner_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stacks, "_frames_above", list)
    spans = [Span(4, 0, 4), Span(9, 1, 3)]
    found = build_stack([summary(2), summary(4), summary(9)], spans, Code(FILE, 1, "f"))
    assert [(frame.line, frame.column, frame.end_column) for frame in found.frames] == [
        (2, None, None), (4, 1, 5), (9, 2, 4),
    ]  # fmt: skip
    assert found.traced == 3
    assert found.excerpt == tuple(SourceLine(n, LINES[n - 1].rstrip()) for n in range(7, 12))
    # A column of the frame itself comes first.
    found = build_stack([summary(9, colno=2, end_colno=5)], spans, Code(FILE, 1, "f"))
    assert (found.frames[0].column, found.frames[0].end_column) == (3, 6)
    found = build_stack([summary(4)], [], Code(FILE, 1, "f"))
    assert found.frames[0].column is None


def test_before_tracing_a_stack_ends_at_the_start_of_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    above = [stacks._Raw("main", Frame(FILE, 20, "main")), stacks._Raw("f", Frame(FILE, 5, "f"))]
    monkeypatch.setattr(stacks, "_frames_above", lambda: above)
    found = build_stack([], [], Code(FILE, 1, "f", resumed_at=5))
    # The function that was split and its continuation are one frame.
    assert [(frame.function, frame.line) for frame in found.frames] == [("main", 20), ("f", 1)]
    assert found.traced == 1
    assert [line.number for line in found.excerpt] == [1, 2, 3]
    found = build_stack([], [], Code(FILE, 19, "f"))
    assert [frame.line for frame in found.frames] == [20, 5, 19]
    assert [line.number for line in found.excerpt] == [17, 18, 19, 20]


def test_an_excerpt_of_a_long_statement_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "_frames_above", list)
    code = Code(FILE, 1, "f")
    found = build_stack([summary(5, colno=0, end_colno=1, end_lineno=7)], [], code)
    assert [line.number for line in found.excerpt] == list(range(3, 10))
    found = build_stack([summary(5, colno=0, end_colno=1, end_lineno=15)], [], code)
    assert [line.number for line in found.excerpt] == list(range(3, 12))
    found = build_stack([summary(5, file="no.py")], [], code)
    assert found.excerpt == ()


def test_the_frames_of_an_error_are_those_that_dynamo_names_or_the_last_of_the_program() -> None:
    inner = ValueError("inner")
    inner.real_stack = [summary(3), summary(4)]  # type: ignore[attr-defined]
    outer = RuntimeError("outer")
    outer.__cause__ = inner
    assert traced_stack(outer, "/torch") == [summary(3), summary(4)]
    outer.__cause__, outer.__context__ = None, inner
    assert traced_stack(outer, "/torch") == [summary(3), summary(4)]
    # A chain may be a circle.
    inner.real_stack = []  # type: ignore[attr-defined]
    inner.__cause__ = outer
    assert traced_stack(outer, "/torch") == []

    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError) as caught:
        fail()
    (last,) = traced_stack(caught.value, "/torch")
    assert last.name == "fail"
    assert traced_stack(caught.value, __file__) == []


def test_running_frames() -> None:
    def inner() -> Frame | None:
        return nearest_caller("/torch")

    found = inner()
    assert found is not None
    assert (found.function, found.code) == ("inner", 'return nearest_caller("/torch")')
    assert nearest_caller(__file__.rpartition("/")[0]) != found
    here = describe_frame(sys._getframe())
    assert here.function == test_running_frames.__name__
    assert (here.column, here.code) == (12, "here = describe_frame(sys._getframe())")
    code = test_running_frames.__code__
    continued = code.replace(co_name=RESUME.format(code.co_name, 3))
    assert next(running_frames_of(continued)) is sys._getframe()
    assert list(running_frames_of(code.replace(co_name="other"))) == []
    assert not stacks.is_wrapper(code)
    assert stacks.is_wrapper(code.replace(co_filename="/a/torch/_dynamo/external_utils.py"))
    assert stacks._span_of_translator(None) == UNKNOWN_SPAN
