"""Keeps a site up to date: looks at its source now and then, and builds when it has changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from fullgraph.errors import FullgraphError
from fullgraph.registry.entries import Snapshot
from fullgraph.registry.sources import snapshot_named, sync_address
from fullgraph.site.build import build
from fullgraph.site.fingerprint import fingerprint
from fullgraph.site.output import check_folder
from fullgraph.site.settings import Plan
from fullgraph.site.shutdown import Stopper, StopRequested
from fullgraph.site.watched_files import Stamp, is_address, stamp_of_contributions

Tell = Callable[[str], None]
# A fingerprint of the registry, and the state of what people wrote.
_State = tuple[str, Stamp]


def watch(make_plan: Callable[[], Plan], folder: Path, every: float, tell: Tell) -> None:
    """Runs until it is told to stop. What fails is said in a line; the site stays as it was."""
    check_folder(folder)
    make_plan()
    stopper = Stopper()

    def say(line: str) -> None:
        tell(f"{datetime.now():%H:%M:%S} {line}")

    before: _State | None = None
    try:
        while True:
            try:
                before = _round(make_plan(), folder, before, stopper, say)
            except FullgraphError as error:
                say(f"{error}; the site stays as it is")
            except Exception as error:
                # It may be over by the next time, and nobody is here to start again.
                say(f"unexpected {type(error).__name__}: {error}; the site stays as it is")
            stopper.wait(every)
    except StopRequested:
        say("stopped")


def _round(plan: Plan, folder: Path, before: _State | None, stopper: Stopper, say: Tell) -> _State:
    with stopper.interruptible():
        snapshot = _read_source(plan)
    state = (fingerprint(snapshot), stamp_of_contributions(plan))
    if state != before or not folder.is_dir():
        say(build(snapshot, plan, folder, say).summary())
    return state


def _read_source(plan: Plan) -> Snapshot:
    if plan.release is not None and is_address(plan.release):
        return sync_address(plan.release, fall_back=False)
    return snapshot_named(plan.release)
