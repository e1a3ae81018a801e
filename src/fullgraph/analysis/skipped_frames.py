"""Skipped frames: functions that run entirely in eager mode, each with its root cause."""

from __future__ import annotations

from dataclasses import dataclass

from fullgraph.analysis.cascades import find_cascades
from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.occurrences import list_occurrences, qualified_name, site_key
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Code, Frame, Skip
from fullgraph.model.owners import PYTHON, TORCH
from fullgraph.model.report import SkippedFrame

_SKIPPED_MODULE = (
    "Dynamo skips the code of this class, so Module.compile() has no effect on it; use "
    "torch.compile(module)"
)


@dataclass
class _Skips:
    """How often a function was skipped, and why."""

    count: int = 0
    site: str | None = None
    error: str = ""
    via: Frame | None = None


def find_skipped_frames(state: AnalysisState) -> tuple[SkippedFrame, ...]:
    """Return the skipped frames; a function that several processes skip is one frame."""
    found: dict[Code, _Skips] = {}
    explained = _add_breaks(state, found)
    for key, event in state.result(compiles_by_id).items():
        if event.outcome == "skipped" and key not in explained:
            skips = found.setdefault(event.code, _Skips())
            skips.error = skips.error or event.error
            skips.count += 1
    for skip in _relevant_skips(state):
        found.setdefault(skip.code, _Skips(1, None, skip.reason))
    for module in _skipped_modules(state):
        skips = found.setdefault(module.code, _Skips(error=_SKIPPED_MODULE))
        skips.via = skips.via or module.caller
        skips.count += 1
    return tuple(_describe(state, code, skips) for code, skips in found.items())


def _add_breaks(state: AnalysisState, found: dict[Code, _Skips]) -> set[CompileKey]:
    """Add the frames that a break skips; return their compiles."""
    explained: set[CompileKey] = set()
    for occurrence in state.result(list_occurrences):
        # Several breaks of one compile skip its frame once.
        if occurrence.outcome == "skipped" and occurrence.compile not in explained:
            if occurrence.event.compile:
                explained.add(occurrence.compile)
            skips = found.setdefault(occurrence.event.root, _Skips())
            skips.site = skips.site or _root_cause(state, site_key(occurrence))
            skips.count += 1
    return explained


def _relevant_skips(state: AnalysisState) -> list[Skip]:
    """Return the functions that Dynamo did not try, unless functions that they call were compiled.

    torch passes many functions of its own and of Python's standard library to Dynamo that are never
    meant to be compiled. They are relevant only if nothing was compiled and no module explains it.
    """
    compiles = state.result(compiles_by_id)
    is_explained = bool(compiles or _skipped_modules(state))
    with_compiled_callees = {code for event in compiles.values() for code in event.under}
    return [
        event
        for _, event in state.events(Skip)
        if not event.module
        and event.code not in with_compiled_callees
        and not (is_explained and state.owners.owner_of(event.code.file) in (TORCH, PYTHON))
    ]


def _skipped_modules(state: AnalysisState) -> list[Skip]:
    """Return the modules whose code Dynamo skips, though `Module.compile` was called on them.

    They are relevant even if functions that they call were compiled, one graph for each.
    """
    return [event for _, event in state.events(Skip) if event.module]


def _root_cause(state: AnalysisState, key: str) -> str:
    cascade = state.result(find_cascades).get(key)
    return cascade.cause if cascade else key


def _describe(state: AnalysisState, code: Code, skips: _Skips) -> SkippedFrame:
    return SkippedFrame(
        function=code.function,
        qualified=qualified_name(code),
        file=code.file,
        line=code.line,
        resumed_at=code.resumed_at,
        owner=state.owners.owner_of(code.file),
        occurrences=skips.count,
        site=skips.site,
        reason=skips.error,
        via=skips.via,
    )
