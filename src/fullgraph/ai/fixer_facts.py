"""What the fixers of `fullgraph fix` say about a break, from its source alone: nothing is run."""

from __future__ import annotations

import re

from fullgraph.model.report import RootCause

_CODE = re.compile(r"`[^`]*`")


def fixer_lines(cause: RootCause, *, with_source: bool) -> list[str]:
    """Return one line for each fixer that recognizes the code: its proposal, or why it refuses.

    Without source, code that a refusal quotes is left out.
    """
    from fullgraph.fix.fixers import all_fixers
    from fullgraph.fix.model import Refusal
    from fullgraph.fix.source.program import ProgramSource

    context = ProgramSource({}).context(cause)
    if not context.has_source:
        return ["no fixer can look at the code: its source cannot be read"]
    found: list[str] = []
    for fixer in all_fixers():
        try:
            proposals = list(fixer.propose(context))
        except Exception:
            # A fixer that fails on this code has nothing to say about it.
            continue
        for proposal in proposals:
            if isinstance(proposal, Refusal):
                reason = proposal.reason if with_source else _CODE.sub("(code)", proposal.reason)
                found.append(f"{fixer.name} refuses at line {proposal.line}: {reason}")
            else:
                title = proposal.title if with_source else fixer.title
                found.append(
                    f"{fixer.name} proposes a change that is not verified yet, which fullgraph fix "
                    f"would try: {title}"
                )
    return list(dict.fromkeys(found)) or ["no fixer of fullgraph fix recognizes this code"]
