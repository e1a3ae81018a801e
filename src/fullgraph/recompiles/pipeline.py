"""`advise_on_program` and `advise_on_session`: capture, group, propose, replay, report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import msgspec
from msgspec import Struct

from fullgraph.capture.process import run_program
from fullgraph.errors import FullgraphError
from fullgraph.fix.model import FixPlan
from fullgraph.fix.report.diff import plan_diff
from fullgraph.fix.source.edits import FileEdits, combine_edits
from fullgraph.model.report import Report
from fullgraph.model.results import RESULTS_SUFFIX, CompiledAt, RunStart, read_records
from fullgraph.model.session import Session, load_all
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies import propose_all
from fullgraph.recompiles.replay import Replayer
from fullgraph.recompiles.report import (
    RECOMPILES_FORMAT,
    GroupAdvice,
    RecompilesReport,
    RecompilesSummary,
    Remedy,
)
from fullgraph.recompiles.run_facts import RunFacts, key_of
from fullgraph.recompiles.search import Baseline, GroupSearch, RemedySearch, TimeLimits, Tried
from fullgraph.recompiles.writes import find_writes

Progress = Callable[[str], None]

_MEASURES = ("calls", "results")
# The time limit without --time: a small program may take this long, a long one this many times the
# time of its first run. That run is captured, so the whole takes at most three times the time of
# the program alone.
_SMALL_PROGRAM = 90.0
_FACTOR = 2.4
# The same for further remedies of a group that has one; a replay that has started goes on.
_SMALL_PROGRAM_ALTERNATIVES = 30.0
_ALTERNATIVES_FACTOR = 1.8
# How much advice that is not verified a group gets.
_MOST_NOT_REPLAYED = 3
_MOST_REWRITES = 2
_INTERRUPTED = "not all replayed: the command was interrupted"
# What a shell gives a command that Ctrl-C ended.
_INTERRUPTED_CODE = 130
_NOT_REPLAYABLE = "not replayed: a session has no program to run again"


class Advice(Struct, frozen=True):
    """A report, and the candidates of its remedies in the same order."""

    report: RecompilesReport
    candidates: tuple[tuple[Candidate, ...], ...]
    main_file: str
    # That of the program, or minus the signal that ended it.
    exit_code: int = 0
    is_of_session: bool = False
    is_interrupted: bool = False


def advise_on_program(
    target: Sequence[str], folder: Path, *, seconds: float | None, progress: Progress
) -> Advice:
    """Run a program, and run it again with remedies for its recompiles in place."""
    # The process that replays imports torch while the program does the same.
    with Replayer(target) as replayer, TemporaryDirectory(prefix="fullgraph-") as eager:
        started = time.monotonic()
        code = run_program(target, folder, _MEASURES)
        own_seconds = time.monotonic() - started
        sessions = load_all((str(folder),))
        facts = RunFacts(sessions)
        searches = _searches(facts.report, _context(sessions, folder, main_file(target)))
        stop = Event()
        with ThreadPoolExecutor(1) as executor:
            writes = executor.submit(find_writes, target, sessions, Path(eager), own_seconds, stop)
            try:
                problem = _why_not_replayed(code, facts, folder)
                if not problem and any(each.waiting for each in searches):
                    limits = _limits(started, own_seconds, seconds)
                    problem = _replay(replayer, folder, facts, searches, limits, progress)
                _add_lines(searches, writes.result())
            except KeyboardInterrupt:
                # The groups are known.
                problem, code = _INTERRUPTED, _INTERRUPTED_CODE
                stop.set()
    advice = _advice(facts, searches, problem, main_file(target))
    is_interrupted = problem == _INTERRUPTED
    return msgspec.structs.replace(advice, exit_code=code, is_interrupted=is_interrupted)


def _limits(started: float, own_seconds: float, seconds: float | None) -> TimeLimits:
    if seconds is not None:
        return TimeLimits(started + seconds, started + seconds)
    return TimeLimits(
        started + max(_SMALL_PROGRAM_ALTERNATIVES, _ALTERNATIVES_FACTOR * own_seconds),
        started + max(_SMALL_PROGRAM, _FACTOR * own_seconds),
    )


def _add_lines(searches: Sequence[GroupSearch], sessions: Sequence[Session]) -> None:
    """Replace the groups by those that also have the lines that a run in eager mode has shown."""
    groups = RunFacts(sessions).report.recompile_groups
    if len(groups) == len(searches):
        for search, group in zip(searches, groups, strict=True):
            search.group = group


def advise_on_session(sessions: Sequence[Session], folder: Path | None) -> Advice:
    """Return the groups of an earlier run, with advice that is not replayed."""
    facts = RunFacts(sessions)
    command = next((each.header.command for each in sessions if each.header.command), ())
    context = _context(sessions, folder, main_file(command[1:]))
    searches = _searches(facts.report, context)
    advice = _advice(facts, searches, _NOT_REPLAYABLE, context.main_file)
    return msgspec.structs.replace(advice, is_of_session=True)


def main_file(target: Sequence[str]) -> str:
    """Return the file that runs as `__main__`; empty if it is not known without importing it."""
    if not target or target[0] == "-":
        return ""
    if target[0] != "-m":
        return os.path.abspath(target[0]) if target[0].endswith(".py") else ""
    path = Path(*target[1].split(".")) if len(target) > 1 else Path()
    files = (path.with_suffix(".py"), path / "__main__.py")
    return next((str(file.resolve()) for file in files if file.is_file()), "")


def _context(sessions: Sequence[Session], folder: Path | None, main: str) -> ProgramContext:
    targets = []
    for file in _result_files(folder):
        targets += [each for each in read_records(file) if isinstance(each, CompiledAt)]
    return ProgramContext(sessions, targets, main)


def _result_files(folder: Path | None) -> list[Path]:
    return sorted(folder.glob(f"*{RESULTS_SUFFIX}")) if folder is not None else []


def _searches(report: Report, context: ProgramContext) -> list[GroupSearch]:
    return [GroupSearch(group, propose_all(group, context)) for group in report.recompile_groups]


def _why_not_replayed(code: int, facts: RunFacts, folder: Path) -> str:
    if code != 0:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        return f"not replayed: the program ended with {how}"
    if facts.processes > 1:
        return "not replayed: the program compiles in several processes"
    if len(_result_files(folder)) != 1:
        return "not replayed: the results of its calls could not be recorded"
    if any(group.limit_raises for group in facts.report.recompile_groups):
        # The run with a remedy makes calls whose results nothing can be compared with.
        return "not replayed: a limit raised an error, after which the program went another way"
    return ""


def _replay(
    replayer: Replayer,
    folder: Path,
    facts: RunFacts,
    searches: Sequence[GroupSearch],
    limits: TimeLimits,
    progress: Progress,
) -> str:
    """Replay the candidates; return why nothing could be replayed, or nothing."""
    results = _result_files(folder)[0]
    seed = next((each.seed for each in read_records(results) if isinstance(each, RunStart)), None)
    progress("preparing to replay")
    replayed = [_divided(each) for each in searches]
    try:
        search = RemedySearch(replayer, Baseline(facts, results, seed), limits, progress)
        search.run([each for each, _ in replayed])
    except FullgraphError as error:
        return f"not replayed: {error}"
    finally:
        for each, rest in replayed:
            each.waiting += rest
    return search.problem


def _divided(search: GroupSearch) -> tuple[GroupSearch, list[Candidate]]:
    """Keep only what can be replayed in a search; return the rest apart."""
    rest = [each for each in search.waiting if not each.can_be_replayed]
    search.waiting = [each for each in search.waiting if each.can_be_replayed]
    return search, rest


def _advice(facts: RunFacts, searches: Sequence[GroupSearch], problem: str, main: str) -> Advice:
    chosen = [_chosen(each, problem) for each in searches]
    for each, found in zip(searches, chosen, strict=True):
        if found:
            # There is something to do about them.
            each.group = msgspec.structs.replace(each.group, bounded=False)
    report = facts.report
    groups = tuple(
        GroupAdvice(
            each.group,
            tuple(_remedy(tried) for tried in found),
            _why(each, found, problem),
        )
        for each, found in zip(searches, chosen, strict=True)
    )
    # Groups of one function share its calls.
    by_function = {key_of(each.group): each.group.calls for each in searches}
    calls = [each for each in by_function.values() if each is not None]
    return Advice(
        RecompilesReport(
            format=RECOMPILES_FORMAT,
            environment=report.environment,
            summary=RecompilesSummary(
                compiles=report.summary.compiles,
                recompiles=sum(each.group.recompiles for each in searches),
                refused=sum(each.group.refused for each in searches),
                groups=len(groups),
                compile_seconds=round(sum(each.group.compile_seconds for each in searches), 3),
                calls=sum(each.total for each in calls) if calls else None,
                eager_calls=sum(each.eager for each in calls) if calls else None,
                raised_calls=sum(each.raised for each in calls) if calls else None,
            ),
            groups=groups,
            not_replayed=problem,
            dynamic_sizes=report.dynamic_sizes,
        ),
        tuple(tuple(tried.candidate for tried in found) for found in chosen),
        main,
    )


def _chosen(search: GroupSearch, problem: str) -> list[Tried]:
    """Return what is shown for a group: verified remedies first, then advice without a replay."""
    verified = sorted(search.verified, key=_rank)
    if any(each.candidate.aim == "compiles" for each in verified):
        # A higher limit is for variety that nothing else helps against.
        verified = [each for each in verified if each.candidate.aim == "compiles"]
    rest = [each for each in search.tried if each.result is None and not each.rejected]
    waiting = search.waiting
    if problem:
        rest += [Tried(each, problem=problem) for each in waiting if each.can_be_replayed]
    if search.group.bounded or any(each.candidate.aim == "compiles" for each in verified):
        return verified
    if not verified:
        verified = rest[:_MOST_NOT_REPLAYED]
    rewrites = [each for each in waiting if each.kind == "rewrite"]
    unsafe = [each for each in waiting if each.kind == "unsafe"]
    return [*verified, *(Tried(each) for each in (*rewrites[:_MOST_REWRITES], *unsafe))]


def _rank(tried: Tried) -> tuple[float, ...]:
    """Order remedies by eager calls saved, then by compiles; those to show last are last."""
    result = tried.result
    if result is None:
        return (0.0,)
    return (
        tried.candidate.comes_last,
        result.eager_calls.after - result.eager_calls.before,
        result.compiles.after - result.compiles.before,
    )


def _remedy(tried: Tried) -> Remedy:
    candidate = tried.candidate
    return Remedy(
        name=candidate.name,
        kind=candidate.kind,
        text=candidate.text,
        where=candidate.where,
        diff=_diff(candidate),
        risk=candidate.risk,
        replay=tried.result,
        not_replayed="" if tried.result is not None else tried.problem,
    )


def _diff(candidate: Candidate) -> str:
    return plan_diff(plan_of(candidate)) if candidate.files else ""


def plan_of(candidate: Candidate) -> FixPlan:
    """Return the changes of a candidate in the form that `fix --apply` writes."""
    by_path: dict[str, list[FileEdits]] = {}
    for file in candidate.files:
        by_path.setdefault(file.path, []).append(file)
    return FixPlan({path: FileEdits(path, combine_edits(files)) for path, files in by_path.items()})


def _why(search: GroupSearch, found: Sequence[Tried], problem: str) -> str:
    if search.group.bounded or found:
        return ""
    if problem:
        return problem
    return "no remedy that was tried helps" if search.tried else "no remedy is known"
