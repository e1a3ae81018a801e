"""Splits the program once at a break that remains, instead of once per calling function.

What it does: sets `torch._dynamo.config.nested_graph_breaks`.

Why it breaks: a break in a function that a compiled function calls also ends the graphs of all
callers, and each of them is compiled in two parts. With the setting, Dynamo resumes in the middle
of the whole call stack, so that there is one split.

Safety: exact. The same operators run in the same order. The break remains, so this comes last.

Not applied when: a trial shows that there are not fewer graphs.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext

TITLE = "break in a called function → one split instead of one per caller"
KIND = "mitigate"
SAFETY = "exact"
IDS = ()
CATEGORIES = ()
ANY_BREAK = True


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the setting."""
    yield Candidate(settings={"nested_graph_breaks": True})
