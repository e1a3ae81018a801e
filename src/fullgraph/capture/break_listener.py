"""Listens to graph breaks: those that Dynamo logs, and those that leave a frame as an exception."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from fullgraph.capture.frame_records import FrameRecord, ListenerContext
from fullgraph.capture.messages import parse_message
from fullgraph.capture.stacks import build_stack, translator_spans
from fullgraph.installed_torch import ids_by_type
from fullgraph.model.events import Break, Reason, Resumption

_CAPTURE_FOLDER = os.path.dirname(__file__) + os.sep
_CANNOT_RESUME = "Encountered graph break that we cannot resume from"
_FRAME_SKIPPED = "Failed to handle graph break gracefully"


class BreakListener:
    """Emits a `Break` for each graph break."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context
        self._emit = context.emit
        self._internals = context.internals
        self._ids: dict[str, str] | None = None

    def before_logged_break(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Emit a break that Dynamo is about to log."""
        record = self._context.records.current
        # Since torch 2.11 the exception is an argument; before, it is the one being handled.
        error: BaseException | None = kwargs.get("exc") or sys.exc_info()[1]
        if record is None or getattr(error, "logged", False):
            return
        reason = str(kwargs.get("reason", ""))
        if error is not None and not hasattr(error, "msg"):
            # The program itself is handling this exception; it is not Dynamo's.
            error = None
        record.last_logged = error
        self._emit(self._describe(record, error, reason, _logged_outcome(reason)))

    def after_conversion(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        """Keep a break that left the frame as an exception."""
        record = self._context.records.current
        if record is None or record.at_limit:
            return
        # A generator that runs in eager mode because its caller does is not a finding.
        if record.compile_id or is_compiled_directly():
            self.keep(record, error)

    def keep(self, record: FrameRecord, error: BaseException | None) -> None:
        """Keep a break that leaves the frame and was not logged before."""
        if not isinstance(error, self._internals.break_errors):
            return
        if error is not record.last_logged and not getattr(error, "logged", False):
            record.pending = self._describe(record, error, "", "skipped")

    def emit_kept(self, record: FrameRecord, error: BaseException | None) -> None:
        """Emit the kept break, now that it is known whether an error reaches the program."""
        if record.pending is not None:
            outcome: Resumption = "raised" if error is not None else "skipped"
            self._emit(msgspec.structs.replace(record.pending, outcome=outcome))

    def _describe(
        self, record: FrameRecord, error: BaseException | None, reason: str, outcome: Resumption
    ) -> Break:
        record.breaks += 1
        traced = getattr(error, "real_stack", None)
        if traced is None:
            traced = self._internals.tracing_context.extract_stack()
        trace_id = self._internals.compile_context.current_trace_id()
        return Break(
            compile=record.compile_id,
            root=record.root(),
            reasons=self._reasons(error, reason),
            stack=build_stack(list(traced), translator_spans(error)),
            outcome=outcome,
            attempt=getattr(trace_id, "attempt", 0) or 0,
        )

    def _reasons(self, error: BaseException | None, text: str) -> tuple[Reason, ...]:
        parsed = parse_message(str(getattr(error, "msg", "")) or text)
        known = self._registry_ids()
        if parsed[0].type not in known and error is not None:
            name = getattr(error, "gb_type", None) or type(error).__name__
            parsed = (_renamed(parsed[0], name), *parsed[1:])
        reasons = tuple(msgspec.structs.replace(r, id=known.get(r.type)) for r in parsed)
        cause = getattr(error, "__cause__", None)
        if isinstance(cause, self._internals.break_errors):
            # One break led to another and the text does not say so: up to torch 2.10, and for
            # errors of the user that a loop or a context manager turned into a break.
            return (*self._reasons(cause, ""), *reasons)
        return reasons

    def _registry_ids(self) -> dict[str, str]:
        if self._ids is None:
            try:
                self._ids = _ids_by_type(self._context.torch_folder)
            except (OSError, msgspec.DecodeError, LookupError, TypeError) as error:
                self._ids = {}
                self._context.report_problem(
                    f"breaks have no id: torch's registry cannot be read ({error})"
                )
        return self._ids


@cache
def _ids_by_type(torch_folder: str) -> dict[str, str]:
    """Return the registry's ids by type; the file is read once per process."""
    return ids_by_type(Path(torch_folder))


def is_compiled_directly() -> bool:
    """Return whether `torch.compile` was given the frame that Dynamo is working on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "convert_frame" not in file and not file.startswith(_CAPTURE_FOLDER):
            return "eval_frame" in file
        frame = frame.f_back
    return False


def _logged_outcome(reason: str) -> Resumption:
    if reason.startswith(_CANNOT_RESUME):
        return "cut"
    return "skipped" if reason.startswith(_FRAME_SKIPPED) else "resumed"


def _renamed(reason: Reason, name: str) -> Reason:
    explanation = reason.explanation or reason.type
    return msgspec.structs.replace(reason, type=name, explanation=explanation)
