"""Listens to the guards that Dynamo makes for compiled code; only if `guards` is measured."""

from __future__ import annotations

from typing import Any

from fullgraph.capture.frame_records import ListenerContext
from fullgraph.capture.guard_cost import describe_guards, keep_seconds, time_check
from fullgraph.model.events import Guards


class GuardListener:
    """Emits a `Guards` for each compile."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context

    def after_guards(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        _: Any,
        error: BaseException | None,
    ) -> None:
        """Emit the guards of the current compile, timed with the values of its frame."""
        record = self._context.records.current
        if "guards" not in self._context.measured or error is not None:
            return
        # torch.export has no frame; its guards are not checked when the exported code runs.
        if record is None or record.frame is None:
            return
        manager, code, output = (*args, *kwargs.values())[:3]
        wrapper, values = manager.guard_manager, output.local_scope
        timing = time_check(wrapper, values)
        keep_seconds(code, timing.seconds)
        self._context.emit(
            Guards(
                compile=record.compile_id,
                code=record.root(),
                seconds=timing.seconds,
                cold_seconds=timing.cold_seconds,
                guards=describe_guards(wrapper, record.frame, values, timing.seconds),
            )
        )
