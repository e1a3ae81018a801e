"""Listens to recompiles: the guards that failed, and the limits that forbid another compile."""

from __future__ import annotations

import inspect
from types import CodeType, FrameType
from typing import Any

from fullgraph.capture.compiled_code import CompiledCode, wrapped_function
from fullgraph.capture.dynamo_hooks import original_function
from fullgraph.capture.frame_records import FrameRecord, ListenerContext
from fullgraph.capture.guard_sources import FrameFacts
from fullgraph.capture.guards import Reasons, failed_guards, list_entries
from fullgraph.capture.stacks import build_stack, plain_name, running_frames_of
from fullgraph.model.events import Recompile


class RecompileListener:
    """Emits a `Recompile` for each frame whose compiled code did not fit."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context
        self._compiled = CompiledCode()

    def after_compile_call(
        self, args: tuple[Any, ...], _: dict[str, Any], __: Any, ___: BaseException | None
    ) -> None:
        """Note that torch.compile was given a function."""
        if len(args) > 1:
            self._compiled.add_function(original_function(args[1]))

    def after_recompile(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        error: BaseException | None,
    ) -> None:
        """Keep the failed guards of all compiled code of the frame."""
        record = self._context.records.current
        if record is None or kwargs.get("skip_logging"):
            return
        record.is_recompile = True
        frame, backend = args[1], args[2] if len(args) > 2 else None
        record.dynamic = getattr(backend, "dynamic", None)
        record.failures = failed_guards(
            list_entries(args[0]),
            self._facts_of(frame),
            frame.f_locals,
            Reasons(list(result or ()), backend),
        )
        if error is not None:
            self._emit(record, None)

    def after_limit(
        self, _: tuple[Any, ...], __: dict[str, Any], result: Any, ___: BaseException | None
    ) -> None:
        """Emit the recompile, now that it is known whether a limit forbids it."""
        record = self._context.records.current
        if record is None or result is None:
            return
        if record.frame is not None:
            self._compiled.add_frame(record.frame)
        exceeded, limit = result
        record.at_limit = bool(exceeded)
        if exceeded or record.is_recompile:
            self._emit(record, limit if exceeded else None)

    def _facts_of(self, frame: Any) -> FrameFacts:
        code: CodeType = frame.f_code
        resumed_at = plain_name(code.co_name)[1]
        return FrameFacts(
            code=code,
            module=str(frame.f_globals.get("__name__", "")),
            resumed_at=resumed_at,
            arguments=_kept_arguments(frame) if resumed_at is not None else frozenset(),
            changed_defaults=self._compiled.changed_defaults(frame),
        )

    def _emit(self, record: FrameRecord, limit: str | None) -> None:
        value = getattr(self._context.internals.config, limit, None) if limit else None
        code = record.frame.f_code if record.frame is not None else None
        self._context.emit(
            Recompile(
                compile=record.compile_id,
                code=record.root(),
                failures=record.failures,
                limit=limit,
                limit_value=value,
                stack=build_stack((), (), record.root()),
                dynamic=record.dynamic,
                instances=self._compiled.instances(code),
                wrappers=self._compiled.wrappers(code),
                wrapped=wrapped_function(record.frame),
            )
        )


def _kept_arguments(frame: Any) -> frozenset[str]:
    """Return the locals of a resumed function that are still the arguments of the original."""
    outer = next(running_frames_of(frame.f_code), None)
    if outer is None:
        return frozenset()
    names = inspect.getargs(outer.f_code)
    given = [*names.args, *filter(None, (names.varargs, names.varkw))]
    return frozenset(name for name in given if _is_same(name, frame, outer))


def _is_same(name: str, frame: Any, outer: FrameType) -> bool:
    inner, before = frame.f_locals, outer.f_locals
    return name in inner and name in before and inner[name] is before[name]
