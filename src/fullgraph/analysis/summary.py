"""Closes the ledger: the numbers of the headline, and everything in the report's words."""

from __future__ import annotations

from fullgraph.analysis.state import Ledger
from fullgraph.model.report import (
    REPORT_FORMAT,
    Environment,
    Failure,
    GraphFinding,
    Report,
    Summary,
)


def summarise(ledger: Ledger) -> Report:
    return Report(
        format=REPORT_FORMAT,
        summary=_summary(ledger),
        environment=_environment(ledger),
        causes=tuple(ledger.causes),
        sites=tuple(sorted(ledger.sites.values(), key=lambda s: (s.file, s.line, s.column or 0))),
        eager_frames=tuple(ledger.eager_frames),
        recompiles=tuple(ledger.recompiles),
        graphs=tuple(
            GraphFinding(
                graph.compile,
                graph.root.function,
                graph.root.file,
                graph.root.line,
                graph.ops,
                graph.backend,
            )
            for _, graph in ledger.graphs
        ),
        disagreements=tuple(ledger.disagreements),
        errors=tuple(
            Failure(c.id, c.code.function, c.code.file, c.code.line, c.outcome, c.error)
            for c in ledger.compiles.values()
            if c.error
        ),
        problems=tuple(ledger.problems),
    )


def _summary(ledger: Ledger) -> Summary:
    compiles = [c for c in ledger.compiles.values() if c.outcome != "limit"]
    # A compile inside another is part of its time already.
    seconds = sum(c.seconds for c in compiles if not c.nested)
    return Summary(
        causes=len(ledger.causes),
        sites=len(ledger.sites),
        occurrences=len(ledger.occurrences),
        eager_frames=len(ledger.eager_frames),
        compiles=len(compiles),
        recompiles=len(ledger.recompiles),
        graphs=len(ledger.graphs),
        ops=sum(graph.ops for _, graph in ledger.graphs),
        compile_seconds=round(seconds + sum(b.seconds for b in ledger.backwards), 3),
    )


def _environment(ledger: Ledger) -> Environment:
    programs = [header for header in ledger.headers if header.role == "program"]
    # The runner knows the command that was given; a process only knows its own.
    first = next((h for h in ledger.headers if h.role == "runner"), ledger.headers[0])
    return Environment(
        fullgraph=first.fullgraph,
        torch=", ".join(dict.fromkeys(h.torch for h in ledger.headers if h.torch)),
        python=first.python,
        platform=first.platform,
        command=first.command,
        directory=first.directory,
        processes=len(programs),
        killed=len(programs) - ledger.ended,
        settings=ledger.settings,
    )
