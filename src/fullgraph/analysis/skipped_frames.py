"""Frames that Dynamo gave up on whole, each with the site that caused it."""

from __future__ import annotations

from dataclasses import dataclass

from fullgraph.analysis.sites import name_of, site_key
from fullgraph.analysis.state import CompileKey, Ledger, Occurrence
from fullgraph.model.events import Code, Skip
from fullgraph.model.report import TORCH, EagerFrame


def settle_outcomes(ledger: Ledger) -> None:
    """Before torch 2.11 a break in a loop was logged as if tracing went on, and then it did not."""
    last_break: dict[CompileKey, Occurrence] = {}
    for occurrence in ledger.occurrences:
        last_break[occurrence.compile] = occurrence
    for key, compile_ in ledger.compiles.items():
        if compile_.outcome == "skipped" and key in last_break:
            last_break[key].outcome = "skipped"


def find_eager_frames(ledger: Ledger) -> None:
    """A function that several processes or instances skipped is one frame, seen several times."""
    found: dict[Code, _Skip] = {}
    blamed: set[CompileKey] = set()
    for occurrence in ledger.occurrences:
        if occurrence.outcome == "skipped":
            blamed.add(occurrence.compile)
            skip = found.setdefault(occurrence.event.root, _Skip())
            skip.site = skip.site or _cause_of(ledger, site_key(occurrence))
            skip.count += 1
    for key, compile_ in ledger.compiles.items():
        if compile_.outcome == "skipped" and key not in blamed:
            skip = found.setdefault(compile_.code, _Skip())
            skip.error = skip.error or compile_.error
            skip.count += 1
    for event in _skips_that_matter(ledger):
        found.setdefault(event.code, _Skip(1, None, event.reason))
    ledger.eager_frames += [_describe(ledger, code, skip) for code, skip in found.items()]


def _skips_that_matter(ledger: Ledger) -> list[Skip]:
    """Harmless where functions further in were compiled; otherwise all was left to eager.

    torch passes many functions of its own through Dynamo, which it never means to be compiled;
    they tell something only when nothing at all was.
    """
    compiled_inside = {code for compile_ in ledger.compiles.values() for code in compile_.under}
    return [
        event
        for event in ledger.skips
        if event.code not in compiled_inside
        and (not ledger.compiles or ledger.owners.of_file(event.code.file) != TORCH)
    ]


@dataclass
class _Skip:
    count: int = 0
    site: str | None = None
    error: str = ""


def _cause_of(ledger: Ledger, key: str) -> str:
    return ledger.sites[key].cascade_of or key


def _describe(ledger: Ledger, code: Code, skip: _Skip) -> EagerFrame:
    return EagerFrame(
        function=code.function,
        qualified=name_of(code),
        file=code.file,
        line=code.line,
        resumed_at=code.resumed_at,
        owner=ledger.owners.of_file(code.file),
        occurrences=skip.count,
        site=skip.site,
        reason=skip.error,
    )
