"""Sessions in, a report out. One pass a file, each a plain function."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.analysis.cascades import find_cascades
from fullgraph.analysis.causes import rank_causes
from fullgraph.analysis.recompiles import list_recompiles
from fullgraph.analysis.reconcile import reconcile
from fullgraph.analysis.sites import group_sites
from fullgraph.analysis.skipped_frames import find_eager_frames, settle_outcomes
from fullgraph.analysis.state import Ledger, open_ledger
from fullgraph.analysis.summary import summarise
from fullgraph.model.report import Report
from fullgraph.model.session import Session

# The order matters: each pass reads what the ones before it have written into the ledger.
PASSES = (
    settle_outcomes,
    group_sites,
    find_cascades,
    find_eager_frames,
    rank_causes,
    list_recompiles,
    reconcile,
)


def analyse(sessions: Sequence[Session]) -> Report:
    """The report of one or several processes that belong together."""
    ledger: Ledger = open_ledger(sessions)
    for analysis in PASSES:
        analysis(ledger)
    return summarise(ledger)
