"""Turn sessions into a report: one file per pass, each a plain function.

A pass takes the `AnalysisState` and returns one value. It reads the captured events with
`state.events(Graph)` and the result of another pass with `state.result(other_pass)`, which runs the
other pass first if it has not run yet. A pass changes nothing.

To add a pass:

1. Write `analysis/my_pass.py` with a function from the state to a value.
2. Add a field of that type to `Report` in `model/report.py` (and to `docs/report-format.md`).
3. Add the name of the field and the function to `PASSES` below.

The JSON report then has the field; `render/report/text.py` shows it if you write that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fullgraph.analysis.causes import rank_causes
from fullgraph.analysis.compiles import list_errors, list_graphs
from fullgraph.analysis.cost import measure_cost
from fullgraph.analysis.dynamic_sizes import list_dynamic_sizes
from fullgraph.analysis.recompile_groups import group_recompiles
from fullgraph.analysis.recompiles import list_recompiles
from fullgraph.analysis.reconcile import find_disagreements
from fullgraph.analysis.sites import list_sites
from fullgraph.analysis.skipped_frames import find_skipped_frames
from fullgraph.analysis.stances import list_stances
from fullgraph.analysis.state import AnalysisState
from fullgraph.analysis.summary import describe_environment, list_problems, summarize
from fullgraph.model.report import REPORT_FORMAT, Report
from fullgraph.model.session import Session

# The field of the report, and the pass that computes it.
PASSES: dict[str, Callable[[AnalysisState], Any]] = {
    "summary": summarize,
    "environment": describe_environment,
    "causes": rank_causes,
    "sites": list_sites,
    "skipped_frames": find_skipped_frames,
    "recompiles": list_recompiles,
    "graphs": list_graphs,
    "disagreements": find_disagreements,
    "errors": list_errors,
    "problems": list_problems,
    "stances": list_stances,
    "dynamic_sizes": list_dynamic_sizes,
    "recompile_groups": group_recompiles,
    "cost": measure_cost,
}


def analyze(sessions: Sequence[Session]) -> Report:
    """Return the report of one process, or of several processes that belong together."""
    state = AnalysisState(sessions)
    return Report(
        format=REPORT_FORMAT,
        **{field: state.result(analysis) for field, analysis in PASSES.items()},
    )
