"""The private names of torch that capturing uses, and the releases that have them.

No other module of `capture/` and `catalog/` names a private module of torch. A name that is missing
raises a `CaptureError` that names the release: a silent zero would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from types import CodeType
from typing import Any, NamedTuple

import msgspec

from fullgraph.errors import CaptureError

_CONVERT = "torch._dynamo.convert_frame"
_EVAL = "torch._dynamo.eval_frame"
_SYMBOLIC = "torch._dynamo.symbolic_convert"
_SHAPES = "torch.fx.experimental.symbolic_shapes"
# Called with a function that torch.compile is given, and with a graph for a backend.
COMPILE_CALL = f"{_EVAL}:_TorchDynamoContext.__call__"
USER_COMPILER = "torch._dynamo.output_graph:OutputGraph.call_user_compiler"
# Called for each backward pass, and for each graph of AOTAutograd that runs.
RUN_BACKWARD = "torch.autograd:_engine_run_backward"
RUN_BACKWARD_GRAPH = (
    "torch._functorch._aot_autograd.runtime_wrappers:call_func_at_runtime_with_args"
)
# Called when a profiler gets ready, maybe some steps before it starts, and when it has ended.
PREPARE_PROFILER = "torch.autograd.profiler:profile._prepare_trace"
END_PROFILER = "torch.autograd.profiler:profile.__exit__"
# Sets what runs frames on this thread, None for Python itself, and returns what ran them before.
SET_EVAL_FRAME = f"{_EVAL}:set_eval_frame"
# Called when the guards of compiled code have been built.
GUARDS_BUILT = "torch._dynamo.guards:CheckFunctionManager.__init__"


class Hook(NamedTuple):
    """A function of Dynamo to listen to, and the releases [since, until) that have it."""

    place: str
    since: tuple[int, int]
    until: tuple[int, int] | None
    listener: str
    why: str

    def serves(self, release: tuple[int, int]) -> bool:
        """Return whether a release has this function."""
        return self.since <= release and (self.until is None or release < self.until)


# `listener` is the name of two methods of a listener, `before_*` and `after_*`; either may be
# absent.
HOOKS = (
    Hook(f"{_CONVERT}:CatchErrorsWrapper.__call__", (2, 8), None, "frame",
         "a frame that Dynamo is given, and its result"),
    Hook(f"{_CONVERT}:ConvertFrameAssert.__call__", (2, 8), None, "conversion",
         "breaks that end the frame, some of which are raised before tracing starts"),
    Hook(f"{_CONVERT}:_compile", (2, 8), None, "compile",
         "one compile: its id, time, guards, restarts"),
    Hook(f"{_CONVERT}:compile_frame", (2, 9), None, "capture",
         "code that torch.export and ahead-of-time compilation trace without a frame"),
    Hook(f"{_CONVERT}:get_and_maybe_log_recompilation_reasons", (2, 8), None, "recompile",
         "the compiled code that did not fit"),
    Hook(f"{_CONVERT}:exceeds_recompile_limit", (2, 8), None, "limit",
         "whether the frame may be recompiled"),
    Hook(f"{_SYMBOLIC}:log_graph_break", (2, 8), (2, 10), "logged_break",
         "a break after which tracing resumes"),
    Hook(f"{_SYMBOLIC}:InstructionTranslatorBase.log_graph_break", (2, 10), None, "logged_break",
         "a break, before repeated ones are dropped from the log"),
    Hook("torch._dynamo.exc:Unsupported.__init__", (2, 8), (2, 10), "raised_break",
         "a break that may be handled without being logged"),
    Hook(f"{_SYMBOLIC}:SpeculationEntry.fail_and_restart_analysis", (2, 8), (2, 10), "restart",
         "a break after which the rest of the function runs in eager mode"),
    Hook(USER_COMPILER, (2, 8), None, "graph",
         "a graph for a backend, whatever the backend is"),
    Hook(GUARDS_BUILT, (2, 8), None, "guards",
         "the guards of a compile, and the values that they were made for"),
    Hook(f"{_SHAPES}:ShapeEnv.create_symbol", (2, 8), None, "symbol",
         "a size, and whether and why it is dynamic"),
    Hook(f"{_SHAPES}:ShapeEnv._set_replacement", (2, 8), None, "replacement",
         "a dynamic size that becomes a constant"),
    Hook("torch._dynamo.callback:CompilationCallbackHandler.run_start_callbacks", (2, 8), None,
         "callbacks_start", "the start of compiling a backward graph that is compiled late"),
    Hook("torch._dynamo.callback:CompilationCallbackHandler.run_end_callbacks", (2, 8), None,
         "callbacks_end", "the end of compiling such a backward graph"),
    Hook(COMPILE_CALL, (2, 8), None, "compile_call",
         "a function or a method that torch.compile is given"),
    Hook("torch._dynamo.decorators:set_stance.__init__", (2, 8), None, "stance",
         "a stance that is set"),
    Hook("torch._dynamo.decorators:set_stance.clone", (2, 8), None, "stance_copy",
         "a stance that is set again because it decorates a function"),
)  # fmt: skip

# The entries of torch._dynamo.config that a session records.
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

# Attributes of a tensor: the dimensions that the program marked as dynamic.
_DYNAMIC_MARKS = (
    "_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices", "_dynamo_unbacked_indices",
)  # fmt: skip

# Attributes of a function or a module that torch.compile returned: the original.
_ORIGINALS = ("_torchdynamo_orig_callable", "_orig_mod")


@dataclass(frozen=True)
class DynamoInternals:
    """The objects of Dynamo that listeners read."""

    # The exceptions that are graph breaks.
    break_errors: tuple[type[BaseException], ...]
    # torch's own counts.
    counters: Mapping[str, Mapping[str, int]]
    compilation_metrics: Callable[[], Any]
    # The id of the current compile, and the stack that is being traced.
    compile_context: Any
    tracing_context: Any
    config: Any


def read_internals(version: str) -> DynamoInternals:
    """Return the internals of the imported torch; a missing one raises a `CaptureError`."""

    def read(place: str) -> Any:
        return look_up(version, place)[2]

    exceptions = ("Unsupported", "UserError", "UncapturedHigherOrderOpError")
    return DynamoInternals(
        break_errors=tuple(read(f"torch._dynamo.exc:{name}") for name in exceptions),
        counters=read("torch._dynamo.utils:counters"),
        compilation_metrics=read("torch._dynamo.utils:get_compilation_metrics"),
        compile_context=read("torch._guards:CompileContext"),
        tracing_context=read("torch._guards:TracingContext"),
        config=read("torch._dynamo:config"),
    )


def look_up(version: str, place: str) -> tuple[Any, str, Any]:
    """Return the owner, the name and the value of `module:path`."""
    module, path = place.split(":")
    try:
        owner: Any = import_module(module)
        *parents, name = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        return owner, name, getattr(owner, name)
    except (ImportError, AttributeError):
        raise CaptureError(
            f"torch {version} has no {module}.{path}, which capturing needs; upgrade fullgraph, "
            "or use a torch release that this version supports (2.8 to 2.15)"
        ) from None


def without_dynamo(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that Dynamo does not compile, and nothing that it calls.

    A program may call `torch.compile` in eager code of a compiled function.
    """
    version = str(import_module("torch").__version__)
    _, _, set_eval_frame = look_up(version, SET_EVAL_FRAME)

    def run(*args: Any) -> None:
        before = set_eval_frame(None)
        try:
            function(*args)
        finally:
            set_eval_frame(before)

    # Dynamo leaves its own files alone.
    file = import_module(_EVAL).__file__
    run.__code__ = run.__code__.replace(co_filename=str(file))
    return run


def time_cold_check(root: Any, values: Mapping[str, Any]) -> float | None:
    """Return the seconds of one check of guards with cold caches; None if torch cannot tell."""
    profile = getattr(import_module("torch._C._dynamo.guards"), "profile_guard_manager", None)
    if profile is None:
        return None
    microseconds: float = profile(root, values, 1)
    return microseconds / 1e6


def listed_sources(option: str) -> str:
    """Return an option of `torch.compiler.config` that lists sources; empty if there is none."""
    config = import_module("torch.compiler").config
    return str(getattr(config, option, "") or "")


def is_generated_by_dynamo(code: CodeType) -> bool:
    """Return whether Dynamo generated a code object, which runs in place of a function's own."""
    return code in import_module(_CONVERT).output_codes


def is_skipped_by_rule(function: Any) -> bool:
    """Return whether Dynamo skips the frames of a function because of the file it is in."""
    return bool(import_module("torch._dynamo.trace_rules").check(function))


def read_stance() -> Any:
    """Return the stance that is set: its `stance`, `skip_guard_eval_unsafe` and `backend`."""
    return import_module(_EVAL)._stance


def current_global_state() -> dict[str, Any]:
    """Return the state of torch that Dynamo guards on; empty if the release cannot tell it."""
    guard: Any = import_module("torch._C._dynamo.guards").GlobalStateGuard()
    if "__getstate__" not in type(guard).__dict__:
        return {}
    state: dict[str, Any] = msgspec.json.decode(guard.__getstate__())
    return state


def dynamic_marks(tensor: Any) -> frozenset[int]:
    """Return the dimensions of a tensor that the program marked as dynamic."""
    marks = (getattr(tensor, name, ()) for name in _DYNAMIC_MARKS)
    return frozenset(dim for dims in marks for dim in dims)


def import_dynamo() -> None:
    """Import Dynamo, whose functions must exist before they can be listened to."""
    import_module("torch._dynamo")


def reset_dynamo() -> None:
    """Discard all compiled code of this process."""
    import_module("torch").compiler.reset()


def has_setting(name: str) -> bool:
    """Return whether `torch._dynamo.config` has an entry in this release of torch."""
    return hasattr(import_module("torch._dynamo.config"), name)


def patch_config(values: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Return a context manager that sets entries of `torch._dynamo.config`."""
    patch: AbstractContextManager[None] = import_module("torch._dynamo").config.patch(**values)
    return patch


def unsupported_error() -> type[BaseException]:
    """Return the exception of a graph break under fullgraph=True."""
    error: type[BaseException] = import_module("torch._dynamo.exc").Unsupported
    return error


def original_function(function: Any) -> Callable[..., Any]:
    """Return the function that `torch.compile` was given; other functions are returned as is."""
    originals = (getattr(function, name, None) for name in _ORIGINALS)
    found: Callable[..., Any] = next((each for each in originals if callable(each)), function)
    return found
