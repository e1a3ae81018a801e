"""`fullgraph.compile`: torch.compile after applying verified fixes in memory."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.fix.model import FixPlan
    from fullgraph.fix.record.recorder import CallRecorder
    from fullgraph.fix.report.model import FixReport


def compile(  # noqa: A001  (it is torch.compile's name, on purpose)
    model: Callable[..., Any],
    example_inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    value_guards: bool = True,
    unsafe: bool = False,
    seconds: float | None = None,
    **options: Any,
) -> Any:
    """Return `torch.compile(model, **options)` after applying verified fixes in memory.

    `example_inputs` are the arguments of a typical call: positional ones in a tuple or a list,
    keyword arguments in a dict. The model is called with them and with varied inputs, in forks of
    this process; no file changes. Safe fixes are applied, and those that assume something of the
    metadata of arguments, for calls like the recorded ones. With `unsafe`, all verified fixes are.
    If no fix can be verified, the result is that of `torch.compile`, and a warning says why. The
    search may use so many `seconds` of CPU time; by default it is a limit that fits the model. The
    result's `fullgraph_fix` is the fix report.
    """
    import torch

    compiled = torch.compile(model, **options)
    try:
        plan, report = _fixed(model, example_inputs, value_guards, unsafe, seconds, options)
    except FullgraphError as error:
        warnings.warn(f"fullgraph.compile applied no fixes: {error}", stacklevel=2)
        return compiled
    from fullgraph.fix.model import NO_PLAN
    from fullgraph.fix.record.intercept import wrap_call
    from fullgraph.fix.runtime.activate import ActivePlan

    wrap = functools.partial(ActivePlan(plan).wrap, original=model)
    fixed = wrap_call(compiled, wrap) if plan != NO_PLAN else compiled
    _attach(fixed, report)
    return fixed


def _attach(fixed: Any, report: FixReport) -> None:
    """Set the report as an attribute of the result.

    A compiled module passes attributes on to the original module, whose pickle would then need
    fullgraph to be loaded.
    """
    vars(fixed)["fullgraph_fix"] = report


def _fixed(
    model: Callable[..., Any],
    example_inputs: Sequence[Any] | Mapping[str, Any] | None,
    value_guards: bool,
    unsafe: bool,
    seconds: float | None,
    options: dict[str, Any],
) -> tuple[FixPlan, FixReport]:
    """Search and verify fixes; FullgraphError if that is not possible."""
    from fullgraph.fix.fixers import all_fixers
    from fullgraph.fix.report.build import build_report
    from fullgraph.fix.search.budget import Budget
    from fullgraph.fix.search.grading import grade_fixes, usable_plan
    from fullgraph.fix.search.search import FixSearch
    from fullgraph.fix.trials.fork import ForkTrialRunner, can_fork

    if example_inputs is None:
        raise FullgraphError("there are no inputs to call the model with; pass example_inputs")
    if not isinstance(example_inputs, tuple | list | Mapping):
        raise FullgraphError(
            f"example_inputs is of type {type(example_inputs).__name__}; pass a tuple, a list or a "
            "dict of arguments"
        )
    if not can_fork():
        raise FullgraphError(
            "this process can no longer be forked, and candidates are tried in forks; call "
            "fullgraph.compile before anything is on a GPU or runs backward, or use "
            "`fullgraph run --fix`"
        )
    started = time.monotonic()
    fixers = [each for each in all_fixers() if value_guards or each.kind != "guard"]
    with ForkTrialRunner(_recorded(model, example_inputs, options)) as runner:
        search = FixSearch(runner, budget=Budget(seconds), progress=lambda _: None, fixers=fixers)
        result = search.run()
        grading = grade_fixes(search.runner, result)
        plan, _ = usable_plan(search.runner, result, grading, unsafe=unsafe, in_memory=True)
    if result.baseline.samples.raising:
        raise FullgraphError("the model raises for example_inputs; pass arguments that it accepts")
    report = build_report(result, grading=grading, seconds=time.monotonic() - started)
    if not report.summary.verified:
        raise FullgraphError(report.verification.problems[0])
    return plan, report


def _recorded(
    model: Callable[..., Any],
    example_inputs: Sequence[Any] | Mapping[str, Any],
    options: dict[str, Any],
) -> CallRecorder:
    """Return a recorder that holds one call of the model."""
    from fullgraph.fix.record.recorder import (
        CallContext,
        CallRecorder,
        CompiledTarget,
        RecordedCall,
        clone_inputs,
    )

    name = getattr(model, "__qualname__", type(model).__name__)
    target = CompiledTarget(name, model, options)
    named = isinstance(example_inputs, Mapping)
    args: Any = () if named else tuple(example_inputs)
    kwargs: Any = dict(example_inputs) if named else {}
    args, kwargs = clone_inputs((args, kwargs))
    call = RecordedCall(target, args, kwargs, CallContext.current())
    return CallRecorder(targets=[target], calls=[call])
