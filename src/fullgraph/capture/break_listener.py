"""Listens to graph breaks: those that Dynamo logs, and those that leave a frame as an exception."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from fullgraph.capture.carried_values import carried_types
from fullgraph.capture.frame_records import WRAPPER_NAME, FrameRecord, ListenerContext
from fullgraph.capture.messages import parse_message
from fullgraph.capture.stacks import build_stack, traced_stack, translator_spans
from fullgraph.installed_torch import ids_by_type
from fullgraph.model.events import Break, Reason, Resumption, Stack

_CAPTURE_FOLDER = os.path.dirname(__file__) + os.sep
_CANNOT_RESUME = "Encountered graph break that we cannot resume from"
# The name of Dynamo's function that handles such a break.
_STEP = "step"
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
        described = self._describe(record, error, reason, _logged_outcome(reason))
        self._emit(msgspec.structs.replace(described, logged_by=_logging_function()))

    def after_raised_break(
        self, args: tuple[Any, ...], _: dict[str, Any], __: Any, ___: BaseException | None
    ) -> None:
        """Remember the exception; before torch 2.10, Dynamo handles some breaks silently."""
        record = self._context.records.current
        if record is not None:
            record.last_raised = args[0]

    def before_restart(self, _: tuple[Any, ...], __: dict[str, Any]) -> None:
        """Emit a break after which Dynamo resumes at an earlier line and leaves the rest."""
        record = self._context.records.current
        function = _logging_function()
        if record is not None and record.last_raised is not None and function == _STEP:
            described = self._describe(record, record.last_raised, "", "cut")
            self._emit(msgspec.structs.replace(described, logged_by=function))

    def after_conversion(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        """Keep a break that left the frame as an exception."""
        record = self._context.records.current
        # A generator that runs in eager mode because its caller does is not a finding.
        if record is not None and (record.compile_id or is_compiled_directly()):
            self.keep(record, error)

    def keep(self, record: FrameRecord, error: BaseException | None) -> None:
        """Keep a break that leaves the frame and was not logged before."""
        if not isinstance(error, self._internals.break_errors):
            return
        if error is not record.last_logged and not getattr(error, "logged", False):
            described = self._describe(record, error, "", "skipped")
            # Dynamo has left its attempts by now; after another break, this was a later one.
            attempt = max(described.attempt, record.last_attempt + 1) if record.breaks > 1 else 0
            record.pending = msgspec.structs.replace(described, attempt=attempt)

    def emit_kept(self, record: FrameRecord, error: BaseException | None) -> None:
        """Emit the kept break, now that it is known whether an error reaches the program.

        A limit that does not raise is not a break: compiled code that fits is still used.
        """
        if record.pending is not None and (error is not None or not record.at_limit):
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
        attempt = getattr(trace_id, "attempt", 0) or 0
        record.last_attempt = max(record.last_attempt, attempt)
        return Break(
            compile=record.compile_id,
            root=record.root(),
            reasons=self.reasons(error, reason),
            stack=build_stack(list(traced), translator_spans(error), record.root()),
            outcome=outcome,
            attempt=attempt,
            error=self._kind(error),
            carried=() if record.frame is None else carried_types(record.frame),
        )

    def _kind(self, error: BaseException | None) -> str:
        """Return which of Dynamo's exceptions for graph breaks this is; empty for any other."""
        kinds = self._internals.break_errors
        return next((kind.__name__ for kind in kinds if isinstance(error, kind)), "")

    def describe_error(self, record: FrameRecord, error: BaseException) -> tuple[Reason, Stack]:
        """Return what torch says about an error that is not a break, and where it happened."""
        traced = traced_stack(error, self._context.torch_folder)
        stack = build_stack(traced, translator_spans(error), record.root())
        return self.reasons(error, str(error))[0], stack

    def reasons(self, error: BaseException | None, text: str) -> tuple[Reason, ...]:
        """Return the reasons that an exception, or the text of Dynamo's log, gives for a break."""
        parsed = parse_message(str(getattr(error, "msg", "")) or text)
        known = self._registry_ids()
        if parsed[0].type not in known and error is not None:
            name = getattr(error, "gb_type", None) or type(error).__name__
            parsed = (_renamed(parsed[0], name), *parsed[1:])
        parsed = (_with_operator(parsed[0], error), *parsed[1:])
        reasons = tuple(msgspec.structs.replace(r, id=known.get(r.type)) for r in parsed)
        cause = getattr(error, "__cause__", None)
        if isinstance(cause, self._internals.break_errors):
            # One break led to another and the text does not say so: up to torch 2.10, and for
            # errors of the user that a loop or a context manager turned into a break.
            return (*self.reasons(cause, ""), *reasons)
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


def _logging_function() -> str:
    """Return the name of the function of Dynamo that logs the current break."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        # Its wrapper has the file of the function that it wraps.
        if not code.co_filename.startswith(_CAPTURE_FOLDER) and code.co_name != WRAPPER_NAME:
            return code.co_name
        frame = frame.f_back
    return ""


def _logged_outcome(reason: str) -> Resumption:
    if reason.startswith(_CANNOT_RESUME):
        return "cut"
    return "skipped" if reason.startswith(_FRAME_SKIPPED) else "resumed"


def _with_operator(reason: Reason, error: BaseException | None) -> Reason:
    """Return the reason with the higher-order operator in which the break happened, if any."""
    # torch adds this line when it shows the message, which is after this.
    operator = getattr(error, "_hop_name", None)
    if operator is None or str(operator) in reason.explanation:
        return reason
    explanation = f"{reason.explanation}\nHigher Order Operator: {operator}".strip()
    return msgspec.structs.replace(reason, explanation=explanation)


def _renamed(reason: Reason, name: str) -> Reason:
    explanation = reason.explanation or reason.type
    return msgspec.structs.replace(reason, type=name, explanation=explanation)
