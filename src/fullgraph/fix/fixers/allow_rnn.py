"""Lets Dynamo trace LSTM, GRU and RNN modules.

What it does: sets `torch._dynamo.config.allow_rnn`.

Why it breaks: Dynamo does not trace recurrent modules by default, because a long loop over time
steps makes a large graph with some backends. On most devices their kernels are single operators.

Safety: exact. The same operators run.

Not applied when: a trial shows that the break has another reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import DELAYED_FUNCTION_CALL, RNN_MODULE
from fullgraph.fix.source.context import BreakContext

TITLE = "recurrent modules → traced into the graph"
KIND = "setting"
SAFETY = "exact"
# Since torch 2.15 a recurrent module is reported under the second id, as other calls are.
IDS = (RNN_MODULE, DELAYED_FUNCTION_CALL)
CATEGORIES = ()


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the setting."""
    yield Candidate(settings={"allow_rnn": True})
