"""Listens to torch's own modules that `Module.compile` was called on, which Dynamo never traces.

`torch.compile(module)` wraps such a module in a function that Dynamo traces, and `module.compile()`
does not. Dynamo then skips `forward` like the rest of torch's code, without a compile or a break.
After the first such module it does not even look, because it skips a code object for good.
Therefore the listener notes the call of `torch.compile` and emits the first call of the module.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType, MethodType
from typing import Any, ClassVar

from fullgraph.capture.dynamo_hooks import is_skipped_by_rule
from fullgraph.capture.frame_records import ListenerContext
from fullgraph.capture.stacks import describe_code, nearest_caller
from fullgraph.model.events import Frame, Skip

# The methods of a module that torch.compile takes as they are.
_CALLS_FORWARD = frozenset({"_call_impl", "_wrapped_call_impl"})


class ModuleListener:
    """Emits a `Skip` for each module that runs in eager mode although it was compiled."""

    # These outlive a listener, because a compiled module may be called during a later capture.
    _subscription: ClassVar[int] = 0
    # The ids of modules whose call of torch.compile was seen.
    _noted: ClassVar[set[int]] = set()

    def __init__(self, context: ListenerContext) -> None:
        self._context = context

    def repeat_for_new_subscriber(self) -> None:
        """Emit each module again when it is next called."""
        ModuleListener._subscription += 1

    def before_compile_call(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Note a module that Dynamo will skip, and emit it when it is called."""
        context, function = args[0], args[1]
        if not isinstance(function, MethodType) or function.__name__ not in _CALLS_FORWARD:
            return
        forward = _skipped_forward(function.__self__)
        if forward is not None and callable(context.callback):
            caller = nearest_caller(self._context.torch_folder)
            self._noted.add(id(forward.__self__))
            # torch calls these before the compiled function, and their results after it.
            context.enter_exit_hooks.append(self._emit_once(forward, caller))

    def emit_unnoted(self, frame: FrameType) -> None:
        """Emit the module of a skipped frame if it was compiled before there was a listener."""
        if frame.f_code.co_name not in _CALLS_FORWARD:
            return
        forward = _skipped_forward(frame.f_locals.get("self"))
        if forward is not None and id(forward.__self__) not in self._noted:
            self._emit(forward, None)

    def _emit_once(
        self, forward: MethodType, caller: Frame | None
    ) -> Callable[[], Callable[[], None]]:
        emitted_for = 0

        def emit() -> Callable[[], None]:
            nonlocal emitted_for
            if emitted_for != ModuleListener._subscription:
                emitted_for = ModuleListener._subscription
                self._emit(forward, caller)
            return _do_nothing

        return emit

    def _emit(self, forward: MethodType, caller: Frame | None) -> None:
        kind = type(forward.__self__)
        module = f"{kind.__module__}.{kind.__qualname__}"
        self._context.emit(Skip(describe_code(forward.__code__), module=module, caller=caller))


def _skipped_forward(module: Any) -> MethodType | None:
    """Return the `forward` of a module if Dynamo skips it; None if it does not, or has none."""
    forward = getattr(module, "forward", None)
    return forward if isinstance(forward, MethodType) and is_skipped_by_rule(forward) else None


def _do_nothing() -> None:
    pass
