"""The fixers, found by walking this folder: from a graph break to candidates and refusals.

A module, or a folder, is one fixer; names that start with an underscore are helpers. Its docstring
is its page: a sentence, then the sections `What it does`, `Why it breaks`, `Safety` and
`Not applied when`. It has

    TITLE       what a report calls the fix: "branch on a tensor → torch.where"
    KIND        model/fix_kinds.py; fixers are tried in the order of their kinds
    SAFETY      model/fix_kinds.py: what the fix may change
    IDS         ids of the breaks that it serves; NO_ID stands for a break without an id
    CATEGORIES  categories of the breaks that it serves
    propose     from a `BreakContext` to candidates, the best first, and refusals

and optionally

    ORDER       within one kind, lower is tried first (default 0)
    OFFERED_FOR a pattern: reports offer the fixer only for breaks whose type, explanation or line
                matches it (default: any)
    ASSUMES     sentences: what must hold for its fixes to be right (default: nothing)
    ANY_BREAK   True: other breaks are proposed to as well; the code at the break decides

`propose` yields nothing for code that it does not recognize. For code that it recognizes and does
not change it yields a `Refusal`, or raises `Declined`, which becomes one.

The cases of a fixer are in `examples/<name>.md`, which is shown to users, and in
`tests/fix/cases/<name>.md`; `_cases.py` describes the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import msgspec

from fullgraph.fix.declarations import Declaration
from fullgraph.fix.model import Candidate, Refusal
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined

Proposal = Candidate | Refusal


class Fixer(Declaration, frozen=True, kw_only=True):
    """One module of this folder: what it declares, and its function."""

    any_break: bool
    propose_in_module: Callable[[BreakContext], Iterator[Proposal]]

    def serves(self, id_: str | None, category: str) -> bool:
        """Return whether the fixer is for breaks of this id or category."""
        return (id_ or "") in self.ids or category in self.categories

    def propose(self, context: BreakContext) -> Iterator[Proposal]:
        """Yield candidates and refusals for a break, completed with what the module declares."""
        cause = context.cause
        if not self.any_break and not self.serves(cause.id, cause.category):
            return
        try:
            for proposal in self.propose_in_module(context):
                if isinstance(proposal, Refusal):
                    yield msgspec.structs.replace(proposal, fixer=self.name)
                elif proposal.file is None or proposal.file.edits:
                    yield self._completed(proposal)
        except Declined as declined:
            yield Refusal(declined.reason, declined.line or cause.line, self.name)

    def _completed(self, candidate: Candidate) -> Candidate:
        return msgspec.structs.replace(
            candidate,
            fixer=self.name,
            kind=self.kind,
            title=candidate.title or self.title,
            safety=candidate.safety or self.safety,
            assumes=candidate.assumes or self.assumes,
        )


@cache
def all_fixers() -> tuple[Fixer, ...]:
    """Return the fixers in the order in which they are tried."""
    names = [each.name for each in iter_modules(__path__) if not each.name.startswith("_")]
    found = [_read(import_module(f"{__name__}.{name}")) for name in names]
    return tuple(sorted(found, key=lambda each: each.rank))


def _read(module: ModuleType) -> Fixer:
    return Fixer(
        name=module.__name__.rpartition(".")[2],
        title=module.TITLE,
        kind=module.KIND,
        safety=module.SAFETY,
        assumes=getattr(module, "ASSUMES", ()),
        ids=module.IDS,
        categories=module.CATEGORIES,
        any_break=getattr(module, "ANY_BREAK", False),
        order=getattr(module, "ORDER", 0),
        about=module.__doc__ or "",
        offered_for=getattr(module, "OFFERED_FOR", ""),
        propose_in_module=module.propose,
    )
