"""`fullgraph.compile`: torch.compile, after mending in memory."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fullgraph.errors import FullgraphError


def compile(  # noqa: A001  (it is torch.compile's name, on purpose)
    model: Callable[..., Any],
    example_inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    value_guards: bool = True,
    seconds: float = 120.0,
    **options: Any,
) -> Any:
    """`torch.compile(model, **options)` without the breaks that can be proven away.

    `example_inputs` are the arguments of a typical call: positional ones in a tuple or a list,
    named ones in a dict. The model is called with them, and with inputs like them, in forks of
    this process; no file is touched. Where nothing can be proven, the result is what
    `torch.compile` gives, and a warning says why. What was done is `fullgraph_fix` of the result.
    """
    import torch

    compiled = torch.compile(model, **options)
    if example_inputs is None:
        warnings.warn(
            "fullgraph.compile did not mend anything: it needs example_inputs", stacklevel=2
        )
        return compiled
    try:
        _require_forks()
        plan, report = _fixed(model, example_inputs, value_guards, seconds, options)
    except FullgraphError as error:
        warnings.warn(f"fullgraph.compile did not mend anything: {error}", stacklevel=2)
        return compiled
    if not report.summary.proven:
        why = report.proof.problems[0]
        warnings.warn(f"fullgraph.compile did not mend anything: {why}", stacklevel=2)
        return compiled
    from fullgraph.fix.record.intercept import put_in
    from fullgraph.fix.runtime.activate import Mending

    mended = put_in(compiled, Mending(plan).wrapped) if report.fixes else compiled
    mended.fullgraph_fix = report
    return mended


def _require_forks() -> None:
    from fullgraph.fix.trials.fork import can_fork

    if not can_fork():
        raise FullgraphError(
            "fixes are tried in forks, and this process cannot be forked any more: call "
            "fullgraph.compile before anything is on a GPU or goes backward, or use "
            "`fullgraph run --mend`"
        )


def _fixed(
    model: Callable[..., Any],
    example_inputs: Sequence[Any] | Mapping[str, Any],
    value_guards: bool,
    seconds: float,
    options: dict[str, Any],
) -> Any:
    from fullgraph.fix.fixers import all_fixers
    from fullgraph.fix.record.recorder import Call, Modes, Recorder, Target, cloned
    from fullgraph.fix.report.build import fix_report
    from fullgraph.fix.search.search import Peeler
    from fullgraph.fix.trials.fork import ForkShop

    started = time.monotonic()
    name = getattr(model, "__qualname__", type(model).__name__)
    target = Target(name, model, options)
    named = isinstance(example_inputs, Mapping)
    args: Any = () if named else tuple(example_inputs)
    kwargs: Any = dict(example_inputs) if named else {}
    args, kwargs = cloned((args, kwargs))
    call = Call(target, args, kwargs, Modes.current())
    fixers = [each for each in all_fixers() if value_guards or each.kind != "guard"]
    with ForkShop(Recorder(targets=[target], calls=[call])) as shop:
        peeler = Peeler(shop, deadline=started + seconds, tell=lambda _: None, fixers=fixers)
        peeled = peeler.run()
    report = fix_report(peeled, peeler.identity, {}, None, time.monotonic() - started)
    return peeled.plan, report
