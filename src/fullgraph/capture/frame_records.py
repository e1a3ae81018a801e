"""Records of the frames that Dynamo is working on, one stack of them per thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fullgraph.capture.dynamo_hooks import DynamoInternals
from fullgraph.capture.stacks import describe_code
from fullgraph.model.events import (
    Break,
    Code,
    DynamicSize,
    Event,
    Graph,
    GuardFailure,
    Reason,
    Stack,
)

# The name of the function that wraps a function of Dynamo, on Python's stack.
WRAPPER_NAME = "listening"


@dataclass
class SizeRecord:
    """The sizes of one attempt to trace a frame."""

    # The object that has the symbols; an attempt that starts again has a new one.
    shape_env: Any
    # By Dynamo's expression of the size, such as `L['x'].size()[0]`.
    dynamic: dict[str, DynamicSize] = field(default_factory=dict)
    static: dict[str, int] = field(default_factory=dict)
    # The expressions of the sizes that a symbol stands for.
    symbols: dict[Any, list[str]] = field(default_factory=dict)


@dataclass
class FrameRecord:
    """What is known so far about a frame that Dynamo is working on."""

    # None if a function is traced without being called, for example by torch.export.
    frame: Any
    code: Code | None = None
    # The id in the session, which is unique; `torch_id` is torch's own.
    compile_id: str = ""
    torch_id: str = ""
    under: tuple[Code, ...] = ()
    started: float = 0.0
    seconds: float = 0.0
    nested: bool = False
    guards: int | None = None
    restarts: tuple[str, ...] = ()
    breaks: int = 0
    last_attempt: int = 0
    last_logged: BaseException | None = None
    last_raised: BaseException | None = None
    # A break that ended the frame; how it ended is known only when Dynamo returns.
    pending: Break | None = None
    failures: tuple[GuardFailure, ...] = ()
    is_recompile: bool = False
    # The argument `dynamic` of torch.compile; known for a recompile.
    dynamic: bool | None = None
    at_limit: bool = False
    error: str = ""
    error_type: str = ""
    error_reason: Reason | None = None
    error_stack: Stack | None = None
    # The graphs of the current attempt, and how many of all attempts did not remain.
    graphs: list[Graph] = field(default_factory=list)
    graphs_attempt: int = 0
    # Whether the newest graph calls regions of torch.compiler.nested_compile_region.
    has_regions: bool = False
    # Whether a backend is compiling a graph of the frame.
    is_in_backend: bool = False
    sizes: SizeRecord | None = None
    refused_graphs: int = 0
    discarded_graphs: int = 0
    # torch's own counts of breaks and graphs: at the start, then the differences.
    counted: tuple[int, int] = (0, 0)
    counted_ops: int | None = None
    # The counts of compiles inside of this one, which have records of their own.
    counted_inside: tuple[int, int] = (0, 0)
    # The newest of torch's metrics when the compile started.
    metrics_before: Any = None

    def root(self) -> Code:
        """Return the function that is being compiled."""
        if self.code is None:
            self.code = describe_code(self.frame.f_code)
        return self.code


@dataclass
class FrameRecords(threading.local):
    """The records of this thread, the outermost frame first."""

    stack: list[FrameRecord] = field(default_factory=list)

    @property
    def current(self) -> FrameRecord | None:
        """The innermost record; None outside of Dynamo."""
        return self.stack[-1] if self.stack else None


@dataclass(frozen=True)
class ListenerContext:
    """What every listener needs: where to send events, and what to read."""

    emit: Callable[[Event], None]
    report_problem: Callable[[str], None]
    internals: DynamoInternals
    torch_folder: str
    records: FrameRecords = field(default_factory=FrameRecords)
    # The measures that take part in listening, by name; see `capture/measures/`.
    measured: set[str] = field(default_factory=set)
