"""Replay candidates: those that are independent together first, then apart where that fails.

A run that ends with equal results verifies every remedy that it had in place, because none of them
can be the reason why the function of another one compiles less often. One that was stopped
says nothing about a single remedy, so its remedies are divided and run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from fullgraph.errors import FullgraphError
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.judge import judge
from fullgraph.recompiles.replay import Replay, Replayer
from fullgraph.recompiles.report import ReplayResult
from fullgraph.recompiles.run_facts import RunFacts, key_of

Progress = Callable[[str], None]

OUT_OF_TIME = "not replayed in time; raise the limit with --time"
NOT_DETERMINISTIC = "not replayed: the program is not deterministic"
# Remedies that are enough for a group, and candidates that are tried for them.
_ENOUGH = 3
_MOST_TRIED = 7
# A limit that is raised may need more compiles, but not without end.
_MOST_COMPILES_FACTOR = 4
_LEAST_SECONDS = 1.0


@dataclass
class Tried:
    """A candidate and what is known about it."""

    candidate: Candidate
    result: ReplayResult | None = None
    # Why it is not offered, or why it was not replayed.
    problem: str = ""
    rejected: bool = False


@dataclass
class GroupSearch:
    """A group and its candidates, those to try first in front."""

    group: RecompileGroup
    waiting: list[Candidate]
    tried: list[Tried] = field(default_factory=list)

    @property
    def verified(self) -> list[Tried]:
        """The candidates that help."""
        return [each for each in self.tried if each.result is not None]

    def next(self) -> Candidate | None:
        """Take the next candidate; None if enough was tried."""
        if self.verified:
            # A higher limit is for variety that nothing else helps against.
            self.waiting = [each for each in self.waiting if each.aim == "compiles"]
        if len(self.verified) >= _ENOUGH or len(self.tried) >= _MOST_TRIED or not self.waiting:
            return None
        return self.waiting.pop(0)


class TimeLimits(NamedTuple):
    """When groups that have a remedy get no further ones, and when nothing is replayed any more."""

    alternatives: float
    last: float


@dataclass(frozen=True)
class Baseline:
    """The run without remedies that others are compared with."""

    facts: RunFacts
    results: Path
    seed: int | None
    fixed: bool = False


_Trial = tuple[GroupSearch, Candidate]


class RemedySearch:
    """Replays candidates until the time is over."""

    def __init__(
        self, replayer: Replayer, baseline: Baseline, limits: TimeLimits, progress: Progress
    ) -> None:
        self._replayer = replayer
        self._baseline = baseline
        self._limits = limits
        self._progress = progress
        self._is_checked = False
        # Why nothing can be replayed; empty if replaying is possible.
        self.problem = ""

    def run(self, searches: Sequence[GroupSearch]) -> None:
        """Try the candidates of all groups, one of each group at a time."""
        round_ = 0
        while not self.problem:
            round_ += 1
            is_late = time.monotonic() > self._limits.alternatives
            open_ = [each for each in searches if not (is_late and each.verified)]
            trials = [(each, found) for each in open_ if (found := each.next()) is not None]
            if not trials:
                return
            try:
                for batch in independent_batches(trials, self._baseline.facts):
                    self._try(batch, f"replaying remedies, round {round_}")
            except KeyboardInterrupt:
                _put_back(trials)
                raise

    def _remaining(self) -> float:
        return self._limits.last - time.monotonic()

    def _try(self, trials: Sequence[_Trial], message: str) -> None:
        """Replay candidates together, and in two halves if the run does not end well."""
        if self.problem or self._remaining() < _LEAST_SECONDS:
            for search, candidate in trials:
                search.tried.append(Tried(candidate, problem=self.problem or OUT_OF_TIME))
            return
        self._progress(f"{message} ({len(trials)})")
        try:
            replay = self._replay([candidate for _, candidate in trials])
        except FullgraphError as error:
            self._divide(trials, message, str(error))
            return
        status = replay.outcome.status
        if status == "done":
            self._judge(trials, replay)
        elif status == "late":
            for search, candidate in trials:
                search.tried.append(Tried(candidate, problem=OUT_OF_TIME))
        elif status == "differs" and not self._is_checked:
            self._check_baseline()
            self._try(trials, message)
        else:
            self._divide(trials, message, f"{status}: {replay.outcome.reason}")

    def _divide(self, trials: Sequence[_Trial], message: str, reason: str) -> None:
        if len(trials) == 1:
            search, candidate = trials[0]
            search.tried.append(Tried(candidate, problem=reason, rejected=True))
            return
        middle = len(trials) // 2
        self._try(trials[:middle], message)
        self._try(trials[middle:], message)

    def _judge(self, trials: Sequence[_Trial], replay: Replay) -> None:
        after = RunFacts(replay.sessions)
        for search, candidate in trials:
            found = judge(search.group, candidate, self._baseline.facts, after, replay.outcome)
            if isinstance(found, str):
                search.tried.append(Tried(candidate, problem=found, rejected=True))
            else:
                search.tried.append(Tried(candidate, found))

    def _replay(self, candidates: Sequence[Candidate]) -> Replay:
        compiles = self._baseline.facts.compiles
        if any(each.aim == "eager_calls" for each in candidates):
            compiles = compiles * _MOST_COMPILES_FACTOR
        return self._replayer.run(
            candidates,
            seconds=self._remaining(),
            seed=self._baseline.seed,
            fixed=self._baseline.fixed,
            reference=self._baseline.results,
            max_compiles=compiles,
        )

    def _check_baseline(self) -> None:
        """Find out whether the program does the same when it is run again without remedies.

        If not, all random numbers are seeded, and a run with them becomes the baseline.
        """
        self._is_checked = True
        self._progress("checking that the program does the same again")
        control = self._run_unchanged(self._baseline.results)
        if control.outcome.status == "done":
            return
        seeded = self._run_unchanged(None)
        if seeded.outcome.status != "done" or seeded.results is None:
            self.problem = self._why_not(seeded)
            return
        self._baseline = Baseline(RunFacts(seeded.sessions), seeded.results, 0, fixed=True)
        control = self._run_unchanged(seeded.results)
        if control.outcome.status != "done":
            self.problem = self._why_not(control)

    def _run_unchanged(self, reference: Path | None) -> Replay:
        is_seeded = reference is None or self._baseline.fixed
        return self._replayer.run(
            [],
            seconds=max(self._remaining(), _LEAST_SECONDS),
            seed=0 if is_seeded else self._baseline.seed,
            fixed=is_seeded,
            reference=reference,
        )

    def _why_not(self, replay: Replay) -> str:
        status, reason = replay.outcome.status, replay.outcome.reason
        if status == "late":
            return OUT_OF_TIME
        if status == "failed":
            return f"not replayed: the program fails when it is run again: {reason}"
        return f"{NOT_DETERMINISTIC} ({reason})"


def _put_back(trials: Sequence[_Trial]) -> None:
    """Let candidates that were not tried wait again."""
    for search, candidate in trials:
        if not any(each.candidate is candidate for each in search.tried):
            search.waiting.insert(0, candidate)


def independent_batches(trials: Sequence[_Trial], facts: RunFacts) -> list[list[_Trial]]:
    """Divide candidates so that what a run shows of one of them is not due to another one."""
    batches: list[list[_Trial]] = []
    for trial in trials:
        for batch in batches:
            if not any(_interfere(trial, other, facts) for other in batch):
                batch.append(trial)
                break
        else:
            batches.append([trial])
    return batches


def _interfere(one: _Trial, other: _Trial, facts: RunFacts) -> bool:
    """Return whether a candidate may change how often the function of the other one compiles."""
    (search, candidate), (other_search, other_candidate) = one, other
    if _changes(candidate) == _changes(other_candidate):
        return False
    key, other_key = key_of(search.group), key_of(other_search.group)
    # The parts of a function around a graph break get the same tensors.
    return (
        key == other_key
        or not facts.targets_of(key).isdisjoint(facts.targets_of(other_key))
        or candidate.is_global
        or other_candidate.is_global
        or not candidate.named_sources.isdisjoint(facts.changing_sources(other_key))
        or not other_candidate.named_sources.isdisjoint(facts.changing_sources(key))
    )


def _changes(candidate: Candidate) -> object:
    return candidate.files, candidate.config
