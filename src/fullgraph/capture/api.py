"""`fullgraph.watch` and `fullgraph.explain`: the same capture, from inside a program."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from fullgraph.capture.header import describe_process
from fullgraph.errors import CaptureError
from fullgraph.model.events import End, Event
from fullgraph.model.report import Cause, Report, Site, Summary
from fullgraph.model.session import Session


class Watch:
    """Everything that Dynamo did between the start and the end of a `with` block.

    `report()` can be asked for at any time, inside the block or after it; `print(session)` shows
    it as the command line does, and `save(path)` keeps it for `fullgraph report`.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._started = time.perf_counter()
        self._header = None if _torch_is_missing() else describe_process()

    def __enter__(self) -> Watch:
        if self._header is None:
            raise CaptureError("torch is not installed here: pip install torch")
        import torch._dynamo  # noqa: F401  (what is listened to has to be there)

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
        """The raw facts so far."""
        if self._header is None:
            raise CaptureError("torch is not installed here: pip install torch")
        end = End(round(time.perf_counter() - self._started, 6))
        return Session(self._header, (*self._events, end))

    def report(self) -> Report:
        from fullgraph.analysis import analyse

        return analyse([self.session()])

    @property
    def summary(self) -> Summary:
        return self.report().summary

    @property
    def causes(self) -> tuple[Cause, ...]:
        return self.report().causes

    @property
    def sites(self) -> tuple[Site, ...]:
        return self.report().sites

    def save(self, path: str | os.PathLike[str]) -> None:
        self.session().save(path)

    def __str__(self) -> str:
        return str(self.report())


def watch() -> Watch:
    """Capture what happens in a `with` block: `with fullgraph.watch() as session: ...`."""
    return Watch()


def explain(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Report:
    """Compile `fn`, call it once with these arguments, and report every break on the way.

    Any compiled code in the process is forgotten before and after, as a second compile of code
    that is already cached would show nothing. The graphs run uncompiled, so this is quick.
    """
    if _torch_is_missing():
        raise CaptureError("torch is not installed here: pip install torch")
    import torch

    plain = _uncompiled(fn)
    torch._dynamo.reset()
    session = watch()
    try:
        with session:
            torch.compile(plain, backend="eager")(*args, **kwargs)
    except torch._dynamo.exc.Unsupported:
        # Something inside asks for fullgraph=True; the break that it met is in the report.
        if not any(cause.raised for cause in session.causes):
            raise
    finally:
        torch._dynamo.reset()
    return session.report()


def _uncompiled(fn: Any) -> Callable[..., Any]:
    """The function behind one that `torch.compile` returned; others are returned as they are."""
    inner = getattr(fn, "_torchdynamo_orig_callable", None) or getattr(fn, "_orig_mod", None)
    found: Callable[..., Any] = inner if callable(inner) else fn
    return found


def _torch_is_missing() -> bool:
    from fullgraph.installed_torch import torch_folder

    return torch_folder() is None
