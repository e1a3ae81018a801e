"""Listens to recompiles: the guards that failed, and the limits that forbid another compile."""

from __future__ import annotations

from typing import Any

from fullgraph.capture.frame_records import FrameRecord, ListenerContext
from fullgraph.capture.guards import failed_guards, list_entries
from fullgraph.model.events import Recompile


class RecompileListener:
    """Emits a `Recompile` for each frame whose compiled code did not fit."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context

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
        entries = list_entries(args[0])
        record.failures = failed_guards(entries, args[1].f_locals, list(result or ()))
        if error is not None:
            self._emit(record, None)

    def after_limit(
        self, _: tuple[Any, ...], __: dict[str, Any], result: Any, ___: BaseException | None
    ) -> None:
        """Emit the recompile, now that it is known whether a limit forbids it."""
        record = self._context.records.current
        if record is None or result is None:
            return
        exceeded, limit = result
        record.at_limit = bool(exceeded)
        if exceeded or record.is_recompile:
            self._emit(record, limit if exceeded else None)

    def _emit(self, record: FrameRecord, limit: str | None) -> None:
        value = getattr(self._context.internals.config, limit, None) if limit else None
        event = Recompile(record.compile_id, record.root(), record.failures, limit, value)
        self._context.emit(event)
