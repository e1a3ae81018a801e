"""Turns what Python and Dynamo know about a call stack into the model's words."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from traceback import FrameSummary
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from fullgraph.model.events import Code, Frame, SourceLine, Stack

_RESUME = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")
# Machinery between the program and the code that it compiled: not part of anybody's call stack.
_MACHINERY = re.compile(r"[/\\](torch[/\\]_dynamo|fullgraph[/\\]capture)[/\\]")
_DEEPEST = 60
_EXCERPT = 2


class Span(NamedTuple):
    """Where an instruction stands, with byte offsets into the line, as Python keeps them."""

    end_line: int | None
    column: int | None
    end_column: int | None


NOWHERE = Span(None, None, None)


def describe_code(code: CodeType) -> Code:
    function, resumed_at = plain_name(code.co_name)
    qualified = code.co_qualname.removesuffix(code.co_name) + function
    return Code(code.co_filename, code.co_firstlineno, function, qualified, resumed_at)


def plain_name(name: str) -> tuple[str, int | None]:
    """The user's name of a function, and the line at which Dynamo's continuation of it starts."""
    match = _RESUME.match(name)
    if not match:
        return name, None
    inner, _ = plain_name(match[1])
    return inner, int(match[2])


def build_stack(traced: Sequence[FrameSummary], spans: Sequence[Span]) -> Stack:
    """The program's frames that led to the compiled code, and below them those being traced."""
    below = [
        _Raw(
            entry.name, _frame(entry.filename, entry.lineno or 0, entry.name, _span_of(entry, span))
        )
        for entry, span in zip(traced, _align(spans, len(traced)), strict=True)
    ]
    frames = _without_continuations([*_frames_above(), *below])
    return Stack(frames, min(len(below), len(frames)), _excerpt(frames))


class _Raw(NamedTuple):
    name: str
    frame: Frame


def _align(spans: Sequence[Span], length: int) -> Sequence[Span]:
    """Spans describe the innermost frames; what lies outside them has no column."""
    kept = list(spans)[-length:] if length else []
    return [NOWHERE] * (length - len(kept)) + kept


def _span_of(entry: FrameSummary, fallback: Span) -> Span:
    column = getattr(entry, "colno", None)
    if column is None:
        return fallback
    return Span(
        getattr(entry, "end_lineno", None) or fallback.end_line,
        column,
        getattr(entry, "end_colno", None),
    )


def _frames_above() -> list[_Raw]:
    frames: list[_Raw] = []
    current: FrameType | None = sys._getframe(1)
    while current is not None and len(frames) < _DEEPEST:
        code = current.f_code
        if not _MACHINERY.search(code.co_filename):
            frame = _frame(code.co_filename, current.f_lineno, code.co_name, _live_span(current))
            frames.append(_Raw(code.co_name, frame))
        current = current.f_back
    frames.reverse()
    return frames


def _live_span(frame: FrameType) -> Span:
    if frame.f_lasti < 0:
        return NOWHERE
    for index, position in enumerate(frame.f_code.co_positions()):
        if index == frame.f_lasti // 2:
            return Span(position[1], position[2], position[3])
    return NOWHERE


def translator_spans(error: BaseException | None) -> list[Span]:
    """Where each of Dynamo's translators stands, outermost first.

    For releases whose stacks have no columns. A translator is either running, and so on Python's
    stack, or was left by `error`, and so in its traceback.
    """
    while error is not None and isinstance(error.__context__, type(error)):
        error = error.__context__
    left = [tb.tb_frame for tb in _tracebacks(error)]
    return [
        _span_of_translator(frame.f_locals.get("self"))
        for frame in [*_running_frames(), *left]
        if frame.f_code.co_name == "step"
    ]


def _running_frames() -> list[FrameType]:
    frames: list[FrameType] = []
    current: FrameType | None = sys._getframe(1)
    while current is not None and current.f_code.co_name != "_compile":
        frames.append(current)
        current = current.f_back
    frames.reverse()
    # Without a compile around, these are frames of the program itself.
    return frames if current is not None else []


def _tracebacks(error: BaseException | None) -> Iterator[TracebackType]:
    traceback = error.__traceback__ if error is not None else None
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _span_of_translator(translator: Any) -> Span:
    position = getattr(getattr(translator, "current_instruction", None), "positions", None)
    if position is None:
        return NOWHERE
    return Span(position.end_lineno, position.col_offset, position.end_col_offset)


def _frame(file: str, line: int, name: str, span: Span) -> Frame:
    text = linecache.getline(file, line)
    same_line = span.end_line in (None, line)
    last = text if same_line else linecache.getline(file, span.end_line or line)
    return Frame(
        file=file,
        line=line,
        function=plain_name(name)[0],
        column=_character(text, span.column),
        end_line=None if same_line else span.end_line,
        end_column=_character(last, span.end_column),
        code=text.strip(),
    )


def _character(text: str, offset: int | None) -> int | None:
    """A byte offset as a column that counts characters from 1."""
    if offset is None or not text:
        # Without the source, bytes are the best that is known.
        return None if offset is None else offset + 1
    return len(text.encode()[:offset].decode(errors="replace")) + 1


def _without_continuations(frames: Iterable[_Raw]) -> tuple[Frame, ...]:
    """Dynamo goes on after a break in a function of its own, which the cut function then calls.

    For the user this is one frame, at the place that is running now.
    """
    kept: list[Frame] = []
    for name, frame in frames:
        is_continuation = plain_name(name)[1] is not None
        if is_continuation and kept and _same_function(kept[-1], frame):
            kept.pop()
        kept.append(frame)
    return tuple(kept)


def _same_function(one: Frame, other: Frame) -> bool:
    return (one.file, one.function) == (other.file, other.function)


def _excerpt(frames: Sequence[Frame]) -> tuple[SourceLine, ...]:
    if not frames:
        return ()
    inner = frames[-1]
    lines = linecache.getlines(inner.file)
    first = max(1, inner.line - _EXCERPT)
    last = min(len(lines), (inner.end_line or inner.line) + _EXCERPT, inner.line + 3 * _EXCERPT)
    return tuple(
        SourceLine(number, lines[number - 1].rstrip()) for number in range(first, last + 1)
    )
