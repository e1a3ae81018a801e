"""What capturing needs of Dynamo, release by release: one table, and looking it up."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from fullgraph.errors import CaptureError

_CONVERT = "torch._dynamo.convert_frame"
_SYMBOLIC = "torch._dynamo.symbolic_convert"


class Hook(NamedTuple):
    """A function of Dynamo that is listened to, and the releases [since, until) that have it."""

    place: str
    since: tuple[int, int]
    until: tuple[int, int] | None
    listener: str
    why: str

    def serves(self, release: tuple[int, int]) -> bool:
        return self.since <= release and (self.until is None or release < self.until)


# `listener` is the pair of methods of `Capture`, `_before_*` and `_after_*`, that hears of it.
HOOKS = (
    Hook(f"{_CONVERT}:CatchErrorsWrapper.__call__", (2, 8), None, "frame",
         "a frame that Dynamo looks at, and what becomes of it"),
    Hook(f"{_CONVERT}:ConvertFrameAssert.__call__", (2, 8), None, "conversion",
         "breaks that end the frame, some of which are raised before tracing starts"),
    Hook(f"{_CONVERT}:_compile", (2, 8), None, "compile",
         "one compile: its id, time, guards, restarts"),
    Hook(f"{_CONVERT}:compile_frame", (2, 9), None, "capture",
         "what torch.export and ahead-of-time compilation trace, which have no frame"),
    Hook(f"{_CONVERT}:get_and_maybe_log_recompilation_reasons", (2, 8), None, "recompile",
         "the compiled code that did not fit"),
    Hook(f"{_CONVERT}:exceeds_recompile_limit", (2, 8), None, "limit",
         "whether it may be compiled once more"),
    Hook(f"{_SYMBOLIC}:log_graph_break", (2, 8), (2, 10), "logged_break",
         "a break that tracing goes on from"),
    Hook(f"{_SYMBOLIC}:InstructionTranslatorBase.log_graph_break", (2, 10), None, "logged_break",
         "a break, before repeated ones are dropped from the log"),
    Hook("torch._dynamo.output_graph:OutputGraph.call_user_compiler", (2, 8), None, "graph",
         "a graph on its way to a backend, whichever that is"),
    Hook("torch._dynamo.callback:CompilationCallbackHandler.run_start_callbacks", (2, 8), None,
         "callbacks_start", "a backward graph that is compiled late"),
    Hook("torch._dynamo.callback:CompilationCallbackHandler.run_end_callbacks", (2, 8), None,
         "callbacks_end", "the same, when it is done"),
)  # fmt: skip

# What is read besides: module and attribute.
READS = (
    ("torch._dynamo.exc", "Unsupported"),
    ("torch._dynamo.exc", "UserError"),
    ("torch._dynamo.exc", "UncapturedHigherOrderOpError"),
    ("torch._dynamo.utils", "counters"),
    ("torch._dynamo.utils", "get_compilation_metrics"),
    ("torch._guards", "CompileContext"),
    ("torch._dynamo", "config"),
)

SETTINGS = (
    "accumulated_recompile_limit",
    "assume_static_by_default",
    "automatic_dynamic_shapes",
    "capture_dynamic_output_shape_ops",
    "capture_scalar_outputs",
    "disable",
    "error_on_recompile",
    "nested_graph_breaks",
    "recompile_limit",
    "specialize_float",
    "specialize_int",
    "suppress_errors",
)


def look_up(version: str, place: str) -> tuple[Any, str, Any]:
    module, path = place.split(":")
    try:
        owner: Any = import_module(module)
        *parents, name = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        return owner, name, getattr(owner, name)
    except (ImportError, AttributeError):
        raise CaptureError(
            f"torch {version} has no {module}.{path}, which capturing needs: upgrade fullgraph, "
            "or use a torch release that this version knows (2.8 to 2.15)"
        ) from None
