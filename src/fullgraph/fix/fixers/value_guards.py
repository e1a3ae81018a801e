"""Turns the values of integer inputs that are read at trace time into guarded constants.

What it does: value guards compute the value from the real inputs at trace time and check it again
before each call; see `docs/value-guards.md`. They work in memory only, through
`fullgraph.compile` and `fullgraph run --fix`; no source changes.

Why it breaks: grids, lengths and masks come in as small integer tensors. Dynamo needs their values
and has no guard that would notice a change.

Safety: specialized. Results are the same; a new value recompiles.

Not applied when: the value depends on anything but small integer inputs and constants.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import BUILTIN_OPERATOR, NO_ID
from fullgraph.fix.source.context import BreakContext

TITLE = "values of integer inputs → guarded constants"
KIND = "guard"
SAFETY = "specialized"
# Without an id: Python needs the value of a symbol that a setting has put into the graph.
IDS = (NO_ID, BUILTIN_OPERATOR)
CATEGORIES = ("data-dependent", "dynamic-shapes")
OFFERED_FOR = r"\A(?!Failed to trace builtin operator)|\brange\b"


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield value guards; of failed builtins only for `range`."""
    if context.cause.id != BUILTIN_OPERATOR or "range(" in context.line:
        yield Candidate(guards=True)
