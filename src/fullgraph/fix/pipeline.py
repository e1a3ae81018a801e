"""`fullgraph fix`, from a program to a report: run it, peel it, prove it, measure it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import MendError, Plan
from fullgraph.fix.report.build import FixReport, changed_lines, fix_report
from fullgraph.fix.search.accept import Peeled
from fullgraph.fix.search.search import Peeler
from fullgraph.fix.trials.client import Workshop
from fullgraph.model.report import YOURS

Tell = Callable[[str], None]
# What is kept back of the time for the proof, the timing and the report.
_RESERVE = 0.3


class Fixed(Struct, frozen=True):
    report: FixReport
    plan: Plan
    # The files that are the user's own.
    own: frozenset[str]


def fix_program(
    target: Sequence[str],
    *,
    seconds: float,
    tell: Tell,
    only_settings: bool = False,
    backends: Sequence[str] = (),
) -> Fixed:
    started = time.monotonic()
    tell("running the program")
    with Workshop(target, deadline=started + seconds) as shop:
        _require_calls(shop)
        peeler = Peeler(
            shop,
            deadline=started + seconds * (1 - _RESERVE),
            tell=tell,
            fixers=_chosen(only_settings),
            backends=backends,
        )
        peeled = peeler.run()
        unreached = _unreached(shop, peeled)
        speedup = _speedup(shop, peeled, tell, started + seconds)
        report = fix_report(peeled, peeler.identity, unreached, speedup, time.monotonic() - started)
    causes = [step.cause for step in peeled.steps if step.candidate.file is not None]
    own = frozenset(cause.file for cause in causes if cause.owner == YOURS)
    return Fixed(report, peeled.plan, own)


def _chosen(only_settings: bool) -> list[Fixer]:
    return [each for each in all_fixers() if not only_settings or each.kind in ("setting", "ease")]


def _require_calls(shop: Workshop) -> None:
    ready = shop.ready
    if ready.error:
        raise MendError(f"the program fails on its own: {ready.error}\n{ready.details}".strip())
    if not ready.functions:
        raise MendError("the program compiles nothing: there is no call of torch.compile")
    if not ready.calls:
        raise MendError(
            f"the program never calls what it compiles ({', '.join(ready.functions[:3])})"
        )


def _unreached(shop: Workshop, peeled: Peeled) -> dict[str, tuple[int, ...]]:
    """Lines of the program that were rewritten, and that no call got to."""
    first: dict[str, tuple[int, ...]] = {}
    for step in peeled.steps:
        path = step.candidate.path
        # Later steps start from a text that no longer is the program's own.
        if path is not None and path not in first:
            first[path] = tuple(changed_lines(step))
    if not first:
        return {}
    return shop.answer(shop.ask("reach", lines=first)).unreached


def _speedup(shop: Workshop, peeled: Peeled, tell: Tell, deadline: float) -> float | None:
    """Both side by side, one after the other; None where there was no time or nothing to time."""
    if not peeled.steps or time.monotonic() > deadline:
        return None
    tell("timing it")
    before = shop.answer(shop.ask("trial", timing=True, backend="")).seconds
    after = shop.answer(shop.ask("trial", peeled.plan, timing=True, backend="")).seconds
    return round(before / after, 2) if before and after else None
