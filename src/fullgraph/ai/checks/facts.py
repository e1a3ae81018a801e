"""The facts that the answer rests on: whether they were sent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, CheckContext

ORDER = 60

_NUMBER = re.compile(r"[Ff]?(\d+)")


def check(answer: Answer, context: CheckContext) -> Iterator[Check]:
    """Yield a check for each fact that the answer names."""
    for claim in answer.facts:
        found = _NUMBER.match(claim)
        if found is None:
            yield Check("fact", claim, None, "this is not the number of a fact that was sent")
            continue
        number = int(found[1])
        most = len(context.subject.facts)
        sent = 1 <= number <= most
        why = "it was sent" if sent else f"only F1 to F{most} were sent"
        yield Check("fact", f"F{number}", sent, why)
