"""Starts one worker per choice, one after another, and then lets all of them take turns.

Only one worker runs at any time. A worker keeps its compiled code, so that each choice is compiled
once, in a process where nothing else is compiled. In a round every worker runs the calls once, so
that a slow moment of the machine is the same for all.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from fullgraph.fix.trials.fork import can_fork, preload_compiler
from fullgraph.where.choosing import is_decided
from fullgraph.where.facts import (
    CallPlan,
    ChoiceFacts,
    EagerFacts,
    Message,
    RoundTime,
    Step,
    TargetFacts,
    Task,
    Update,
    WorkerRequest,
)
from fullgraph.where.recording import CompiledPart, PlacementRecorder, Root
from fullgraph.where.report import Choice, CodeLine, NotTried
from fullgraph.where.warm_up import warm_up_inductor
from fullgraph.where.worker_process import (
    WorkerEndedError,
    WorkerProcess,
    fork_worker,
    spawn_worker,
)

_MOST_ROOTS = 3
# The part of the time of a target in which choices are compiled; rounds take the rest.
_COMPILE_PART = 0.75
# The part of the remaining time that one choice may take.
_LARGEST_PART = 0.6
# Rounds of one choice and eager mode, directly after the choice is compiled.
_EARLY_ROUNDS = 4
_FEWEST_ROUNDS = 7
_MOST_ROUNDS = 60
_ROUNDS_SECONDS = 30.0
_LEFT_OUT = f"only the {_MOST_ROOTS} that take most of the time are tried"
_NO_TIME = "there was no time; --time gives more"

Send = Callable[[Message], None]


class Measurement:
    """Measures the choices of all roots of a recorded program."""

    def __init__(
        self,
        recorder: PlacementRecorder,
        target: Sequence[str],
        folder: Path,
        send: Send,
        alive: int,
        *,
        seconds: float,
        backend: str,
        threads: int,
    ) -> None:
        self._recorder = recorder
        self._target = target
        self._folder = folder
        self._send = send
        self._alive = alive
        self._deadline = time.monotonic() + seconds
        self._backend = backend
        self._threads = threads
        self._forks = can_fork()
        own = {root.options.get("backend", "inductor") for root in recorder.chosen_roots()}
        self._backends = {backend} if backend else own

    def run(self) -> None:
        """Measure one root after another, and send what is known after each step."""
        roots = self._recorder.chosen_roots()
        if self._forks:
            self._send(Step("loading the compiler"))
            # What the backward passes of other backends need takes seconds to import.
            preload_compiler(gradients=self._recorder.ran_backward and self._backends != {"eager"})
            if "inductor" in self._backends:
                warm_up_inductor(Path(tempfile.mkdtemp(dir=self._folder)))
            # A collection in a fork would touch, and thereby copy, all objects of this process.
            gc.freeze()
        known = [_facts_of(root) for root in roots]
        known[_MOST_ROOTS:] = [replace(each, left_out=_LEFT_OUT) for each in known[_MOST_ROOTS:]]
        self._send(Update(tuple(known)))
        for number, root in enumerate(roots[:_MOST_ROOTS]):
            left = self._deadline - time.monotonic()
            end = time.monotonic() + left / (min(len(roots), _MOST_ROOTS) - number)

            def update(facts: TargetFacts, number: int = number) -> None:
                known[number] = facts
                self._send(Update(tuple(known)))

            place = self._recorder.roots.index(root)
            RootMeasurement(self, place, root, end, update).run()

    def step(self, text: str) -> None:
        """Say what is done now."""
        self._send(Step(text))

    def start(
        self,
        task: Task,
        root: int,
        *,
        plan: CallPlan | None = None,
        choice: Choice | None = None,
    ) -> WorkerProcess:
        """Start a worker."""
        request = WorkerRequest(
            task=task,
            root=root,
            backend=self._backend,
            threads=self._threads,
            cache=tempfile.mkdtemp(dir=self._folder),
            calls=self._recorder.called,
            plan=plan,
            choice=choice,
        )
        if self._forks:
            return fork_worker(self._recorder, request, self._folder, self._alive)
        return spawn_worker(self._target, request, self._folder, self._alive)


class RootMeasurement:
    """Measures the choices of one root."""

    def __init__(
        self,
        measurement: Measurement,
        number: int,
        root: Root,
        deadline: float,
        update: Callable[[TargetFacts], None],
    ) -> None:
        self._measurement = measurement
        self._number = number
        self._root = root
        self._deadline = deadline
        started = time.monotonic()
        self._compile_deadline = started + (deadline - started) * _COMPILE_PART
        self._update = update
        self._facts = _facts_of(root)
        self._round = 0
        # By the place of the choice; eager mode is None.
        self._workers: dict[int | None, WorkerProcess] = {}

    def run(self) -> None:
        """Measure eager mode, then each choice, then all of them in turns."""
        try:
            self._run()
        finally:
            for worker in self._workers.values():
                worker.end()

    def _run(self) -> None:
        self._measurement.step(f"running {self._root.name} in eager mode")
        try:
            eager = self._scout()
        except WorkerEndedError as problem:
            self._set(raised=f"the process that makes the recorded calls failed: {problem}")
            return
        self._set(
            raising=sum(eager.plan.raises),
            backward=any(eager.plan.backward),
            raised=eager.raised,
            not_tried=eager.not_tried,
            waiting=tuple(choice.name for choice in eager.choices),
        )
        if all(eager.plan.raises):
            return
        plan = self._start_eager(eager.plan)
        names = [choice.name for choice in eager.choices]
        for place, choice in enumerate(eager.choices):
            self._measurement.step(f"compiling {choice.name} ({place + 1} of {len(names)})")
            self._set(waiting=tuple(names[place:]))
            self._try(choice, plan)
        self._set(waiting=())
        self._take_turns()

    def _scout(self) -> EagerFacts:
        worker = self._measurement.start("scout", self._number)
        try:
            return worker.read(EagerFacts, self._compile_deadline)
        finally:
            worker.end()

    def _start_eager(self, plan: CallPlan) -> CallPlan:
        """Start the worker for eager mode; return the plan, with whether outcomes compare."""
        reference = self._measurement.start("reference", self._number, plan=plan)
        try:
            reference.read(str, self._compile_deadline)
        finally:
            reference.end()
        worker = self._measurement.start("eager", self._number, plan=plan)
        self._workers[None] = worker
        problem = worker.read(str, self._compile_deadline)
        self._set(incomparable=problem)
        self._rounds([None], _EARLY_ROUNDS, self._deadline)
        return replace(plan, compares=not problem)

    def _try(self, choice: Choice, plan: CallPlan) -> None:
        """Compile a choice and time it, or note why not."""
        now = time.monotonic()
        left = self._compile_deadline - now
        if left <= 0:
            self._leave_out(choice, _NO_TIME)
            return
        worker = self._measurement.start("choice", self._number, plan=plan, choice=choice)
        try:
            facts = worker.read(ChoiceFacts, now + left * _LARGEST_PART)
        except WorkerEndedError as problem:
            worker.end()
            took = f"compiling took more than {left * _LARGEST_PART:.0f} s; --time gives more"
            self._leave_out(choice, took if "long" in str(problem) else str(problem))
            return
        place = len(self._facts.choices)
        self._set(choices=(*self._facts.choices, facts))
        if facts.problem:
            worker.end()
            return
        self._workers[place] = worker
        self._rounds([None, place], _EARLY_ROUNDS, self._deadline)

    def _leave_out(self, choice: Choice, reason: str) -> None:
        self._set(not_tried=(*self._facts.not_tried, NotTried(choice.name, reason)))

    def _take_turns(self) -> None:
        """Time all choices and eager mode in rounds, until the result is clear."""
        self._measurement.step("timing all choices in turns")
        end = min(self._deadline, time.monotonic() + _ROUNDS_SECONDS)
        for done in range(_MOST_ROUNDS):
            late = time.monotonic() > (end if done >= _FEWEST_ROUNDS else self._deadline)
            clear = done >= _FEWEST_ROUNDS and is_decided(self._facts)
            if late or clear or len(self._workers) < 2:
                return
            places = list(self._workers)
            # Another one starts in each round, so that none is always the first.
            start = done % len(places)
            self._rounds([*places[start:], *places[:start]], 1, self._deadline)

    def _rounds(self, places: Sequence[int | None], count: int, deadline: float) -> None:
        """Let some workers take turns; a worker that fails is left out from then on."""
        for _ in range(count):
            self._round += 1
            for place in places:
                worker = self._workers.get(place)
                if worker is None:
                    continue
                try:
                    self._note(place, worker.time_round(max(deadline, time.monotonic() + 5)))
                except WorkerEndedError:
                    worker.end()
                    del self._workers[place]
        self._update(self._facts)

    def _note(self, place: int | None, time_: RoundTime) -> None:
        number, seconds = self._round, time_.seconds
        if place is None:
            rounds = {**self._facts.eager_rounds, number: seconds}
            self._facts = replace(self._facts, eager_rounds=rounds)
            return
        choices = list(self._facts.choices)
        facts = choices[place]
        later = facts.later_compiles + time_.compiles
        rounds = facts.rounds if time_.compiles else {**facts.rounds, number: seconds}
        choices[place] = replace(facts, later_compiles=later, rounds=rounds)
        self._facts = replace(self._facts, choices=tuple(choices))

    def _set(self, **changes: object) -> None:
        self._facts = replace(self._facts, **changes)
        self._update(self._facts)


def _facts_of(root: Root) -> TargetFacts:
    module = root.target.module
    return TargetFacts(
        name=root.name,
        class_name=type(module).__name__ if module is not None else "",
        is_function=root.is_function,
        compiled_at=_lines(root.parts),
        no_effect=_lines([part for part in root.parts if part.has_no_effect]),
        calls=root.called,
        recorded=len(root.calls),
    )


def _lines(parts: Sequence[CompiledPart]) -> tuple[CodeLine, ...]:
    """Return the lines that compile some parts, each once."""
    lines = [part.line for part in parts if part.line is not None]
    return tuple({(each.file, each.line): each for each in lines}.values())
