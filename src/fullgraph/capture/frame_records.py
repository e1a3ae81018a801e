"""Records of the frames that Dynamo is working on, one stack of them per thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fullgraph.capture.dynamo_hooks import DynamoInternals
from fullgraph.capture.stacks import describe_code
from fullgraph.model.events import Break, Code, Event, GuardFailure


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
    last_logged: BaseException | None = None
    # A break that ended the frame; how it ended is known only when Dynamo returns.
    pending: Break | None = None
    failures: tuple[GuardFailure, ...] = ()
    is_recompile: bool = False
    at_limit: bool = False
    error: str = ""
    # torch's own counts of breaks and graphs: at the start, then the differences.
    counted: tuple[int, int] = (0, 0)
    counted_ops: int | None = None

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
