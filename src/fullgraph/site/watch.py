"""Keep a site up to date: check its source regularly and build after changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from fullgraph.errors import FullgraphError
from fullgraph.registry.entries import Snapshot
from fullgraph.registry.sources import snapshot_named, sync_url
from fullgraph.site.build import build
from fullgraph.site.fingerprint import fingerprint
from fullgraph.site.output import check_folder
from fullgraph.site.settings import BuildPlan
from fullgraph.site.shutdown import Stopper, StopRequested
from fullgraph.site.watched_files import Stamp, is_url, stamp_of_contributions

Progress = Callable[[str], None]
# A fingerprint of the registry, and the state of contributed files.
_State = tuple[str, Stamp]


def watch(
    make_plan: Callable[[], BuildPlan], folder: Path, every: float, progress: Progress
) -> None:
    """Run until a signal stops the process. A failure is one line of output; the site stays."""
    check_folder(folder)
    make_plan()
    stopper = Stopper()

    def say(line: str) -> None:
        progress(f"{datetime.now():%H:%M:%S} {line}")

    before: _State | None = None
    try:
        while True:
            try:
                before = _round(make_plan(), folder, before, stopper, say)
            except FullgraphError as error:
                say(f"{error}; the site stays unchanged")
            except Exception as error:
                # The failure may be temporary, so try again next time.
                say(f"unexpected {type(error).__name__}: {error}; the site stays unchanged")
            stopper.wait(every)
    except StopRequested:
        say("stopped")


def _round(
    plan: BuildPlan, folder: Path, before: _State | None, stopper: Stopper, say: Progress
) -> _State:
    with stopper.interruptible():
        snapshot = _read_source(plan)
    state = (fingerprint(snapshot), stamp_of_contributions(plan))
    if state != before or not folder.is_dir():
        say(build(snapshot, plan, folder, say).summary())
    return state


def _read_source(plan: BuildPlan) -> Snapshot:
    if plan.release is not None and is_url(plan.release):
        return sync_url(plan.release, fall_back=False)
    return snapshot_named(plan.release)
