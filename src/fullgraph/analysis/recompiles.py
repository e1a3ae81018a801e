"""Frames that had compiled code and did not fit it, with every guard that failed."""

from __future__ import annotations

from fullgraph.analysis.sites import name_of
from fullgraph.analysis.state import Ledger
from fullgraph.model.report import RecompileFinding


def list_recompiles(ledger: Ledger) -> None:
    for event in ledger.recompile_events:
        ledger.recompiles.append(
            RecompileFinding(
                compile=event.compile,
                function=event.code.function,
                qualified=name_of(event.code),
                file=event.code.file,
                line=event.code.line,
                owner=ledger.owners.of_file(event.code.file),
                failures=event.failures,
                limit=event.limit,
                limit_value=event.limit_value,
            )
        )
