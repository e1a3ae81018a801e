"""Turn the call stacks of Python and Dynamo into the structs of the model."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from traceback import FrameSummary, extract_tb
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from fullgraph.model.events import Code, Frame, SourceLine, Stack

_RESUME = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")
# Files between the program and its compiled code, which are not part of the user's stack.
_INTERNAL_FILES = re.compile(
    r"[/\\]torch[/\\]_dynamo[/\\]eval_frame\.py$|[/\\]fullgraph[/\\]capture[/\\]"
)
# The frames from this file on belong to the compiler.
_COMPILER_FILE = re.compile(r"[/\\]torch[/\\]_dynamo[/\\]convert_frame\.py$")
# Where torch compiles what is not a function of the user: a function that passes all arguments on.
_WRAPPER_FILE = re.compile(r"[/\\]torch[/\\]_dynamo[/\\]external_utils\.py$")
_MAX_FRAMES = 200
# Lines of source before and after a break.
_EXCERPT_LINES = 2


class Span(NamedTuple):
    """The end and the columns of an instruction, as byte offsets into the line."""

    end_line: int | None
    column: int | None
    end_column: int | None


UNKNOWN_SPAN = Span(None, None, None)


def describe_code(code: CodeType) -> Code:
    """Return a code object under the name that the user gave the function."""
    function, resumed_at = plain_name(code.co_name)
    qualified = code.co_qualname.removesuffix(code.co_name) + function
    return Code(code.co_filename, code.co_firstlineno, function, qualified, resumed_at)


def is_wrapper(code: CodeType) -> bool:
    """Return whether code is torch's wrapper of what Dynamo does not trace as a frame of its own.

    Its variable `fn` is what it wraps: a module of torch, another object that can be called, or a
    function that is not written in Python.
    """
    return _WRAPPER_FILE.search(code.co_filename) is not None


def plain_name(name: str) -> tuple[str, int | None]:
    """Return the user's name of a function and the line where it resumes.

    The line is None unless the function is Dynamo's continuation of another one.
    """
    match = _RESUME.match(name)
    if not match:
        return name, None
    inner, _ = plain_name(match[1])
    return inner, int(match[2])


def traced_stack(error: BaseException, torch_folder: str) -> list[FrameSummary]:
    """Return the frames that Dynamo was tracing when an error happened, the outermost first.

    torch adds them to some exceptions, and raises others in their place. Without them, the result
    is the innermost line of the traceback outside of torch; nothing if there is none.
    """
    chain = list(_chain(error))
    for each in chain:
        stack = getattr(each, "real_stack", None)
        if stack:
            return list(stack)
    frames = [frame for each in chain for frame in extract_tb(each.__traceback__)]
    outside = [
        frame
        for frame in frames
        if not frame.filename.startswith((torch_folder, "<"))
        and not _INTERNAL_FILES.search(frame.filename)
    ]
    return outside[-1:]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that it replaced, also if torch hides them in tracebacks."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def resume_name(function: str, line: int | None) -> str:
    """Return Dynamo's name of the continuation of a function; its own name if `line` is None."""
    return function if line is None else f"torch_dynamo_resume_in_{function}_at_{line}"


def build_stack(traced: Sequence[FrameSummary], spans: Sequence[Span], root: Code) -> Stack:
    """Return the frames that called the compiled code, then the frames that are being traced.

    If Dynamo is not tracing, because it has not begun or has finished, the last frame is the start
    of the function `root`, which it is compiling.
    """
    below = [
        _Raw(
            entry.name, _frame(entry.filename, entry.lineno or 0, entry.name, _span_of(entry, span))
        )
        for entry, span in zip(traced, _align(spans, len(traced)), strict=True)
    ]
    if not below:
        start = _frame(root.file, root.line, root.function, UNKNOWN_SPAN)
        name = resume_name(root.function, root.resumed_at)
        below = [_Raw(name, start)]
    frames = _without_continuations([*_frames_above(), *below])
    return Stack(frames, min(len(below), len(frames)), _excerpt(frames))


def traced_frames(traced: Sequence[FrameSummary]) -> tuple[Frame, ...]:
    """Return the frames that Dynamo is tracing, without the frames that called them."""
    return tuple(
        _frame(each.filename, each.lineno or 0, each.name, _span_of(each, UNKNOWN_SPAN))
        for each in traced
    )


class _Raw(NamedTuple):
    name: str
    frame: Frame


def _align(spans: Sequence[Span], length: int) -> Sequence[Span]:
    """Return one span per frame; the outer frames, for which there is none, have no columns."""
    kept = list(spans)[-length:] if length else []
    return [UNKNOWN_SPAN] * (length - len(kept)) + kept


def _span_of(entry: FrameSummary, fallback: Span) -> Span:
    column = getattr(entry, "colno", None)
    if column is None:
        return fallback
    return Span(
        getattr(entry, "end_lineno", None) or fallback.end_line,
        column,
        getattr(entry, "end_colno", None),
    )


def nearest_caller(torch_folder: str) -> Frame | None:
    """Return the innermost running frame outside of torch and fullgraph; None if there is none."""
    current: FrameType | None = sys._getframe(1)
    while current is not None:
        file = current.f_code.co_filename
        if not file.startswith(torch_folder + os.sep) and not _INTERNAL_FILES.search(file):
            return describe_frame(current)
        current = current.f_back
    return None


def describe_frame(frame: FrameType) -> Frame:
    """Return a running frame at its current line."""
    code = frame.f_code
    return _frame(code.co_filename, frame.f_lineno, code.co_name, _live_span(frame))


def running_frames_of(code: CodeType) -> Iterator[FrameType]:
    """Yield the running frames of the function that resumed as `code`, the innermost first."""
    wanted = (code.co_filename, plain_name(code.co_name)[0])
    current: FrameType | None = sys._getframe(1)
    while current is not None:
        if (current.f_code.co_filename, current.f_code.co_name) == wanted:
            yield current
        current = current.f_back


def _frames_above() -> list[_Raw]:
    """Return the frames of the program that led to the outermost compile on Python's stack."""
    frames: list[FrameType] = []
    current: FrameType | None = sys._getframe(1)
    while current is not None:
        if _COMPILER_FILE.search(current.f_code.co_filename):
            frames.clear()
        elif not _INTERNAL_FILES.search(current.f_code.co_filename):
            frames.append(current)
        current = current.f_back
    frames = frames[:_MAX_FRAMES]
    return [_Raw(frame.f_code.co_name, describe_frame(frame)) for frame in reversed(frames)]


def _live_span(frame: FrameType) -> Span:
    if frame.f_lasti < 0:
        return UNKNOWN_SPAN
    for index, position in enumerate(frame.f_code.co_positions()):
        if index == frame.f_lasti // 2:
            return Span(position[1], position[2], position[3])
    return UNKNOWN_SPAN


def translator_spans(error: BaseException | None) -> list[Span]:
    """Return the position of each of Dynamo's translators, the outermost first.

    Some releases have stacks without columns. A translator is on Python's stack if it is running,
    and in the traceback of `error` if the exception left it.
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
    # Outside of a compile, these are frames of the program itself.
    return frames if current is not None else []


def _tracebacks(error: BaseException | None) -> Iterator[TracebackType]:
    traceback = error.__traceback__ if error is not None else None
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _span_of_translator(translator: Any) -> Span:
    position = getattr(getattr(translator, "current_instruction", None), "positions", None)
    if position is None:
        return UNKNOWN_SPAN
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
    """Return a byte offset as a column that counts characters from 1."""
    if offset is None or not text:
        # Without the source, only the bytes are known.
        return None if offset is None else offset + 1
    return len(text.encode()[:offset].decode(errors="replace")) + 1


def _without_continuations(frames: Iterable[_Raw]) -> tuple[Frame, ...]:
    """Return the frames without the functions that Dynamo makes to resume after a break.

    The split function calls the new one. For the user they are one frame, at the current line.
    """
    kept: list[Frame] = []
    for name, frame in frames:
        is_continuation = plain_name(name)[1] is not None
        if is_continuation and kept and _same_function(kept[-1], frame):
            kept.pop()
        kept.append(frame)
    return tuple(kept)


def _same_function(first: Frame, second: Frame) -> bool:
    return (first.file, first.function) == (second.file, second.function)


def _excerpt(frames: Sequence[Frame]) -> tuple[SourceLine, ...]:
    if not frames:
        return ()
    inner = frames[-1]
    lines = linecache.getlines(inner.file)
    first = max(1, inner.line - _EXCERPT_LINES)
    last = min(
        len(lines), (inner.end_line or inner.line) + _EXCERPT_LINES, inner.line + 3 * _EXCERPT_LINES
    )
    return tuple(
        SourceLine(number, lines[number - 1].rstrip()) for number in range(first, last + 1)
    )
