"""`fullgraph.watch` and `fullgraph.explain`: capturing from inside a program."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from fullgraph.capture.dynamo_hooks import (
    import_dynamo,
    original_function,
    reset_dynamo,
    unsupported_error,
)
from fullgraph.capture.header import describe_process
from fullgraph.errors import CaptureError
from fullgraph.model.events import End, Event
from fullgraph.model.report import BreakSite, Report, RootCause, Summary
from fullgraph.model.session import Session

if TYPE_CHECKING:
    from fullgraph.analysis.state import AnalysisState

_Result = TypeVar("_Result")


class Watch:
    """Captures everything that Dynamo does in a `with` block.

    `report()` can be called at any time, inside the block or after it. `print(watch)` shows the
    report as the command line does, and `save(path)` keeps the session for `fullgraph report`.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._started = time.perf_counter()
        self._header = None if _torch_is_missing() else describe_process()

    def __enter__(self) -> Watch:
        if self._header is None:
            raise _torch_missing_error()
        import_dynamo()
        from fullgraph.capture.dynamo_listener import capture

        self._header = describe_process()
        self._started = time.perf_counter()
        capture.subscribe(self._events.append)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        from fullgraph.capture.dynamo_listener import capture

        capture.unsubscribe(self._events.append)

    def session(self) -> Session:
        """Return the events captured so far."""
        if self._header is None:
            raise _torch_missing_error()
        end = End(round(time.perf_counter() - self._started, 6))
        return Session(self._header, (*self._events, end))

    def report(self) -> Report:
        """Return the report of the events captured so far."""
        from fullgraph.analysis import analyze

        return analyze([self.session()])

    @property
    def summary(self) -> Summary:
        """The counts of the report."""
        from fullgraph.analysis.summary import summarize

        return self._result(summarize)

    @property
    def causes(self) -> tuple[RootCause, ...]:
        """The root causes, the most urgent first."""
        from fullgraph.analysis.causes import rank_causes

        return self._result(rank_causes)

    @property
    def sites(self) -> tuple[BreakSite, ...]:
        """All break sites, by location."""
        from fullgraph.analysis.sites import list_sites

        return self._result(list_sites)

    def _result(self, analysis: Callable[[AnalysisState], _Result]) -> _Result:
        """Return the result of one analysis pass, without the rest of the report."""
        from fullgraph.analysis.state import AnalysisState

        return AnalysisState([self.session()]).result(analysis)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a file that `fullgraph report` reads."""
        self.session().save(path)

    def __str__(self) -> str:
        return str(self.report())


def watch() -> Watch:
    """Return a context manager that captures a block: `with fullgraph.watch() as session: ...`."""
    return Watch()


def explain(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Report:
    """Compile `fn`, call it once with these arguments, and return the report.

    All compiled code of the process is discarded before and after, because code that is already
    compiled would show nothing. The graphs run without a backend, so this is quick.
    """
    if _torch_is_missing():
        raise _torch_missing_error()
    import torch

    import_dynamo()
    reset_dynamo()
    session = watch()
    try:
        with session:
            torch.compile(original_function(fn), backend="eager")(*args, **kwargs)
    except unsupported_error():
        # Code inside uses fullgraph=True; the break that it raised is in the report.
        if not any(cause.raised for cause in session.causes):
            raise
    finally:
        reset_dynamo()
    return session.report()


def _torch_missing_error() -> CaptureError:
    return CaptureError("torch is not installed; install it with pip install torch")


def _torch_is_missing() -> bool:
    from fullgraph.installed_torch import torch_folder

    return torch_folder() is None
