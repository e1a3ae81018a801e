"""What the process of one choice does: compile, compare with eager mode, then time rounds.

The worker for eager mode comes first. It keeps the outcomes that the others compare with, and finds
out how the calls can be timed and what there is to compile.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace

from fullgraph.capture.api import Watch
from fullgraph.fix.record.recorder import CallContext, RecordedCall, clone_inputs
from fullgraph.fix.trials.samples import modules_restored
from fullgraph.model.events import Compile
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import CallOutcome, module_state, observe_call, tensors_in
from fullgraph.where.applying import apply_choice
from fullgraph.where.choices import list_choices, profile_modules
from fullgraph.where.facts import CallPlan, ChoiceFacts, EagerFacts, RoundTime
from fullgraph.where.recording import PlacementRecorder, Root
from fullgraph.where.report import Choice

_REFERENCE = "eager-{}.pt"
# A round repeats the calls until it takes so long.
_ROUND_SECONDS = 0.02
_MOST_REPETITIONS = 30
# On a busy machine a call can take a thousand times as long as usual. So short calls are repeated
# at least so often, unless that takes longer than the limit: long calls suffer less from delays.
_FEWEST_REPETITIONS = 5
_LONG_ROUND_SECONDS = 0.2

Function = Callable[..., Any]


class Worker:
    """One choice, or eager mode, for one root."""

    def __init__(self, recorder: PlacementRecorder, root: Root, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._number = recorder.roots.index(root)
        self._may_run_backward = recorder.ran_backward
        self._modules = [module for _, module in root.modules]
        # One module that has all of them, for what is observed.
        self._everything = torch.nn.ModuleList(self._modules)
        self._function: Function = root.target.original

    def scout(self) -> EagerFacts:
        """Find out in eager mode how to time the calls, and what there is to compile."""
        outcomes = [self._observe(call, call.context.grad) for call in self._root.calls]
        raises = tuple(bool(each.raised) for each in outcomes)
        first = next((f"{o.raised}: {o.message}" for o in outcomes if o.raised), "")
        raised = next(iter(first.splitlines()), "")
        backward = tuple(map(self._can_run_backward, self._root.calls))
        plan = CallPlan(raises, backward, mutates=False)
        if all(raises):
            return EagerFacts(plan, (), (), raised)
        plan = replace(plan, mutates=self._mutates())
        # Without backward passes: no module calls them, so that its part would look too small.
        self.plan = replace(plan, backward=(False,) * len(raises))
        self._run_calls()
        choices, not_tried = list_choices(self._root, profile_modules(self._root, self._run_calls))
        return EagerFacts(plan, tuple(choices), tuple(not_tried), raised)

    def keep_reference(self, plan: CallPlan) -> None:
        """Run the calls in eager mode and keep the outcomes that all choices must have.

        The calls before are those that a choice makes: a function may change more than modules,
        such as the state of an optimizer.
        """
        self.plan = plan
        self._run_calls()
        outcomes = [
            self._observe(call, gradients)
            for call, gradients in zip(self._root.calls, plan.backward, strict=True)
        ]
        torch.save(outcomes, self._folder / _REFERENCE.format(self._number))

    def check_eager(self, plan: CallPlan) -> str:
        """Run the calls in eager mode again; return how the outcomes differ, if they do."""
        self.plan = plan
        self._run_calls()
        return self._difference()

    def measure_choice(self, choice: Choice, plan: CallPlan, backend: str) -> ChoiceFacts:
        """Compile a choice; return what the first calls took and what Dynamo did in them."""
        self.plan = plan
        with Watch() as watch:
            try:
                self._function = apply_choice(self._root, choice, backend)
                first = self._run_calls()
            except Exception as error:
                return ChoiceFacts(choice, problem=_shown(error))
        summary = watch.report().summary
        facts = ChoiceFacts(
            choice,
            first_seconds=first,
            graphs=summary.graphs,
            breaks=summary.sites,
            recompiles=summary.recompiles,
            refused=summary.refused,
            skipped_frames=summary.skipped_frames,
        )
        problem = self._difference() if plan.compares else ""
        if not problem and not summary.compiles:
            problem = "torch.compile has no effect here: Dynamo compiled nothing"
        with Watch() as later:
            self._run_calls()
            self._run_calls()
        again = sum(isinstance(each, Compile) for each in later.session().events)
        return replace(facts, problem=problem, later_compiles=again)

    def time_round(self) -> RoundTime:
        """Return the seconds of a mean call, repeated until it takes long enough to tell."""
        with Watch() as watch:
            # The first call warms the caches of the processor, and is not counted.
            self._run_calls()
            spent = [self._run_calls()]
            while not _is_enough(spent):
                spent.append(self._run_calls())
        compiles = sum(isinstance(each, Compile) for each in watch.session().events)
        return RoundTime(statistics.median(spent) / self.plan.raises.count(False), compiles)

    def _run_calls(self) -> float:
        """Make the calls that do not raise; return their seconds."""
        numbers = [n for n, raises in enumerate(self.plan.raises) if not raises]
        return sum(self._timed_call(number) for number in numbers)

    def _timed_call(self, number: int) -> float:
        call = self._root.calls[number]
        args, kwargs = clone_inputs((call.args, call.kwargs))
        restored = modules_restored(self._modules) if self.plan.mutates else nullcontext()
        with restored, self._gradients_restored(), call.context.restored():
            started = time.perf_counter()
            result = self._function(*args, **kwargs)
            if self.plan.backward[number]:
                _sum_of_outputs(result).backward()
            return time.perf_counter() - started

    @contextmanager
    def _gradients_restored(self) -> Iterator[None]:
        """Put the gradients of parameters back after the block; without them if there are none."""
        parameters = [each for module in self._modules for each in module.parameters()]
        before = [each.grad for each in parameters]
        for parameter in parameters:
            parameter.grad = None
        try:
            yield
        finally:
            for parameter, gradient in zip(parameters, before, strict=True):
                parameter.grad = gradient

    def _observe(self, call: RecordedCall, gradients: bool) -> CallOutcome:
        args, kwargs = clone_inputs((call.args, call.kwargs))
        context = call.context if gradients else _WithoutGradients(call.context)
        with modules_restored(self._modules):
            outcome = observe_call(
                self._function, args, kwargs, context=context, module=self._everything
            )
        # A compiled `forward` of one of torch's own modules is an attribute of that module.
        outcome.state = {
            name: leaf for name, leaf in outcome.state.items() if not name.endswith(".forward")
        }
        return outcome

    def _can_run_backward(self, call: RecordedCall) -> bool:
        """Return whether the sum of the outputs has a gradient, and the program computes some."""
        if not self._may_run_backward or not call.context.grad or call.context.inference:
            return False
        args, kwargs = clone_inputs((call.args, call.kwargs))
        with modules_restored(self._modules), self._gradients_restored(), call.context.restored():
            try:
                total = _sum_of_outputs(self._function(*args, **kwargs))
                if not total.requires_grad:
                    return False
                total.backward()
            except Exception:
                # For example because the function has run the backward pass itself.
                return False
        return True

    def _mutates(self) -> bool:
        """Return whether the calls change parameters, buffers or attributes of the modules."""
        with modules_restored(self._modules):
            before = [module_state(module) for module in self._modules]
            for call in self._root.calls:
                self._observe_without_restoring(call)
            after = [module_state(module) for module in self._modules]
        pairs = zip(before, after, strict=True)
        return any(
            compare_outcomes(CallOutcome(state=one), CallOutcome(state=other), exact=True).problems
            for one, other in pairs
        )

    def _observe_without_restoring(self, call: RecordedCall) -> None:
        args, kwargs = clone_inputs((call.args, call.kwargs))
        observe_call(self._function, args, kwargs, context=_WithoutGradients(call.context))

    def _difference(self) -> str:
        """Return how the compiled calls differ from those in eager mode; empty if they agree."""
        reference: list[CallOutcome] = torch.load(
            self._folder / _REFERENCE.format(self._number), weights_only=False
        )
        pairs = zip(self._root.calls, self.plan.backward, reference, strict=True)
        for number, (call, with_gradients, expected) in enumerate(pairs, 1):
            outcome = self._observe(call, with_gradients)
            found = compare_outcomes(
                expected, outcome, exact=False, effects="dropped", allow_zeros=True
            )
            if found.problems:
                return f"call {number}: {found.problems[0]}"
        return ""


class _WithoutGradients:
    """The context of a call whose gradients are not computed."""

    grad = False

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self.inference = context.inference

    def restored(self) -> AbstractContextManager[None]:
        """Return a context manager that sets the modes and random states."""
        return self._context.restored()


def _is_enough(spent: Sequence[float]) -> bool:
    """Return whether the repetitions of a round tell how long a call takes."""
    if len(spent) < _FEWEST_REPETITIONS:
        return sum(spent) > _LONG_ROUND_SECONDS
    return sum(spent) > _ROUND_SECONDS or len(spent) >= _MOST_REPETITIONS


def _sum_of_outputs(result: Any) -> torch.Tensor:
    """Return the sum of all floating-point tensors of a result that have a gradient."""
    tensors = [each for each in tensors_in(result) if each.requires_grad]
    return sum((each.float().sum() for each in tensors), torch.zeros(()))


def _shown(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"raises {type(error).__name__}: {lines[0] if lines else ''}"
