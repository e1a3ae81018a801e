"""What `fullgraph fix` says; `docs/fix-format.md` describes the same as JSON."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from fullgraph.fix.model import GuardCost, Kind, Plan, Safety
from fullgraph.fix.runtime.dynamo_config import lines_of
from fullgraph.fix.search.accept import Attempt, Peeled, Step
from fullgraph.fix.source import text as source
from fullgraph.model.report import Cause

# The history of the format.
#   1  the first
FIX_FORMAT = 1
_PACKAGES = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")


class Count(Struct, frozen=True):
    before: int
    after: int


class FixSummary(Struct, frozen=True):
    causes: Count
    sites: Count
    graphs: Count
    eager_frames: Count
    # Operations in graphs.
    ops: Count
    # Whether all that is listed under `fixes` has been proven, together.
    proven: bool


class Place(Struct, frozen=True):
    file: str
    line: int
    function: str
    id: str | None
    type: str
    owner: str


class Fix(Struct, frozen=True):
    fixer: str
    title: str
    kind: Kind
    safety: Safety
    place: Place
    diff: str
    # The lines to add to the program, for a setting.
    settings: tuple[str, ...]
    # Lines of the old code that no call got to, so nothing is known about them.
    unreached: tuple[int, ...]


class Left(Struct, frozen=True):
    place: Place
    tried: tuple[Attempt, ...]


class Proof(Struct, frozen=True):
    """The facts behind `proven`."""

    recorded_calls: int
    varied_calls: int
    # Of the varied ones, those for which the program raises; it still does.
    raising_calls: int
    largest_difference: float
    gradients: int
    # Gradients that a backend makes zero where there were none, as for unused parameters.
    zero_gradients: int
    recompilations: int
    backends: tuple[str, ...]
    # Sites of breaks with varied inputs: a value that is too new for a guard breaks as ever.
    varied_sites: int
    # How many times as fast a steady call is, with the program's own backend.
    speedup: float | None
    problems: tuple[str, ...]


class FixReport(Struct, frozen=True):
    format: int
    summary: FixSummary
    fixes: tuple[Fix, ...]
    left: tuple[Left, ...]
    settings: dict[str, Any]
    guards: tuple[GuardCost, ...]
    proof: Proof
    # All rewrites in one.
    diff: str
    out_of_time: bool
    seconds: float


def fix_report(
    peeled: Peeled,
    identity: Any,
    unreached: dict[str, tuple[int, ...]],
    speedup: float | None,
    seconds: float,
) -> FixReport:
    before, after = peeled.baseline.report, peeled.final.report
    assert before is not None
    left = after.causes if after is not None else before.causes
    problems = tuple(_problems(peeled))
    return FixReport(
        format=FIX_FORMAT,
        summary=_summary(peeled, not problems),
        fixes=tuple(_fix(step, unreached) for step in peeled.steps),
        left=tuple(
            Left(_place(each, _text(peeled, each)), peeled.tried.get(identity(each), ()))
            for each in left
        ),
        settings=peeled.plan.settings,
        guards=peeled.final.guards,
        proof=_proof(peeled, speedup, problems),
        diff=plan_diff(peeled.plan),
        out_of_time=peeled.out_of_time,
        seconds=round(seconds, 1),
    )


def _summary(peeled: Peeled, proven: bool) -> FixSummary:
    before = peeled.baseline.report
    after = peeled.final.report or before
    assert before is not None
    assert after is not None

    def count(name: str) -> Count:
        return Count(getattr(before.summary, name), getattr(after.summary, name))

    return FixSummary(
        causes=count("causes"),
        sites=count("sites"),
        graphs=count("graphs"),
        eager_frames=count("eager_frames"),
        ops=count("ops"),
        proven=proven,
    )


def _problems(peeled: Peeled) -> Iterator[str]:
    for trial in (peeled.final, *peeled.deeper.values()):
        if trial.error:
            yield trial.error
        for each in trial.differences:
            yield f"{each.mode}, {each.sample}: {each.what}"


def _proof(peeled: Peeled, speedup: float | None, problems: tuple[str, ...]) -> Proof:
    trials = (peeled.final, *peeled.deeper.values())
    samples = peeled.final.samples
    return Proof(
        recorded_calls=samples.recorded,
        varied_calls=samples.varied,
        raising_calls=samples.raising,
        largest_difference=max(trial.largest for trial in trials),
        gradients=max(trial.gradients for trial in trials),
        zero_gradients=max(trial.zero_gradients for trial in trials),
        recompilations=max(trial.recompiled for trial in trials),
        varied_sites=max(trial.varied_sites for trial in trials),
        backends=("eager", *peeled.deeper),
        speedup=speedup,
        problems=problems,
    )


def _fix(step: Step, unreached: dict[str, tuple[int, ...]]) -> Fix:
    candidate = step.candidate
    diff = ""
    lines: tuple[int, ...] = ()
    if candidate.file is not None:
        diff = text_diff(candidate.file.path, step.before, step.after)
        lines = tuple(
            line for line in changed_lines(step) if line in unreached.get(candidate.file.path, ())
        )
    return Fix(
        fixer=candidate.fixer,
        title=candidate.title,
        kind=candidate.kind,
        safety=candidate.safety,
        place=_place(
            step.cause, step.before if candidate.path in (None, step.cause.file) else None
        ),
        diff=diff,
        settings=tuple(lines_of(candidate.settings)),
        unreached=lines,
    )


def _text(peeled: Peeled, cause: Cause) -> str | None:
    """The text of a file in which a break was met at the end, if that is not the file's own."""
    patch = peeled.plan.files.get(cause.file)
    return patch.text if patch is not None else None


def _place(cause: Cause, text: str | None) -> Place:
    """Where a break is in the program as it is; it was met in `text`."""
    line = cause.line if text is None else _line_on_disk(cause.file, text, cause.line)
    return Place(cause.file, line, cause.function, cause.id, cause.type, cause.owner)


def _line_on_disk(path: str, text: str, line: int) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            original = file.read()
    except (OSError, UnicodeDecodeError):
        return line
    return line_before(original, text, line)


def line_before(original: str, text: str, line: int) -> int:
    """The line of the original that has become a line of another text of it."""
    matcher = difflib.SequenceMatcher(
        None, source.lines_of(original), source.lines_of(text), autojunk=False
    )
    for kind, start, _, new_start, new_end in matcher.get_opcodes():
        if new_start < line <= new_end:
            return start + line - new_start if kind == "equal" else start + 1
    return line


def changed_lines(step: Step) -> list[int]:
    """The lines that a rewrite takes out or replaces."""
    matcher = difflib.SequenceMatcher(
        None, source.lines_of(step.before), source.lines_of(step.after), autojunk=False
    )
    return [
        line
        for kind, start, end, _, _ in matcher.get_opcodes()
        if kind != "equal"
        for line in range(start + 1, end + 1)
    ]


def text_diff(path: str, before: str, after: str) -> str:
    name = shown_path(path)
    texts = source.lines_of(before), source.lines_of(after)
    lines = difflib.unified_diff(*texts, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def plan_diff(plan: Plan) -> str:
    parts = []
    for path, patch in sorted(plan.files.items()):
        with open(path, encoding="utf-8", newline="") as file:
            before = file.read()
        parts.append(text_diff(path, before, source.with_ends_of(patch.text, before)))
    return "".join(parts)


def shown_path(path: str) -> str:
    """Below the working directory, or as a package has it."""
    relative = os.path.relpath(path)
    return _PACKAGES.sub("", path) if relative.startswith("..") else relative
