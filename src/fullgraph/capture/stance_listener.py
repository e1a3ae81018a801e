"""Listens to `torch.compiler.set_stance`, which can keep Dynamo from compiling at all."""

from __future__ import annotations

import weakref
from typing import Any

from fullgraph.capture.dynamo_hooks import read_stance
from fullgraph.capture.frame_records import ListenerContext
from fullgraph.capture.stacks import nearest_caller
from fullgraph.model.events import Frame, Stance


class StanceListener:
    """Emits a `Stance` for each line that sets a stance, however it is used."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context
        self._emitted: set[Stance] = set()
        # A decorator makes a copy of itself for each call of its function.
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()
        self._is_copy_of_known = False

    def repeat_for_new_subscriber(self) -> None:
        """Emit the stance that is set, whose line is not known, and all others when next set."""
        self._emitted.clear()
        self._known.clear()
        self._emit(read_stance(), None)

    def after_stance(
        self, args: tuple[Any, ...], _: dict[str, Any], __: Any, error: BaseException | None
    ) -> None:
        """Emit a stance that was set."""
        if error is None and not self._is_copy_of_known:
            self._known.add(args[0])
            self._emit(args[0].stance, nearest_caller(self._context.torch_folder))

    def before_stance_copy(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Ignore the copy of a decorator that was emitted with its own line."""
        self._is_copy_of_known = args[0] in self._known

    def after_stance_copy(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, ____: BaseException | None
    ) -> None:
        """Listen to stances again."""
        self._is_copy_of_known = False

    def _emit(self, stance: Any, caller: Frame | None) -> None:
        backend = stance.backend
        event = Stance(
            stance=str(stance.stance),
            force_backend="" if backend is None else getattr(backend, "__name__", str(backend)),
            skip_guard_eval_unsafe=bool(stance.skip_guard_eval_unsafe),
            caller=caller,
        )
        # The default stance changes nothing.
        is_default = event == Stance("default", caller=caller)
        if not is_default and event not in self._emitted:
            self._emitted.add(event)
            self._context.emit(event)
