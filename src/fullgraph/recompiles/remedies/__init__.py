"""The remedies, found by walking this folder: from a group of recompiles to candidates.

A module is one remedy; names that start with an underscore are helpers. Its docstring says what the
remedy does, when it helps, and what could go wrong. It has

    TITLE    what the remedy is, in a few words
    KIND     recompiles/report.py: what the user changes; a candidate without a change is a rewrite
    ORDER    lower is tried and shown first among remedies that help equally
    BOUNDED  optional; True if it is also for recompiles that are right and bounded
    DYNAMIC  optional; True if it only makes sizes and numbers dynamic
    propose  from a `RecompileGroup` and a `ProgramContext` to candidates, the best first

`propose` yields nothing for groups that the remedy is not for, and nothing that the installed torch
does not have. A candidate with a change must not raise or change a result on calls that the program
did not make, which no replay shows; where that is not certain, it has no change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import msgspec

from fullgraph.fix.source.declined import Declined
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.report import RemedyKind


class RemedyModule(msgspec.Struct, frozen=True):
    """One module of this folder."""

    name: str
    title: str
    kind: RemedyKind
    order: int
    about: str
    is_for_bounded: bool
    makes_dynamic: bool
    propose_in_module: Callable[[RecompileGroup, ProgramContext], Iterator[Candidate]]

    def propose(self, group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
        """Yield candidates, completed with what the module declares."""
        if group.bounded and not self.is_for_bounded:
            return
        if self.makes_dynamic and is_specialized(group):
            return
        # The file may use the name of an import for something else.
        with suppress(Declined):
            for candidate in self.propose_in_module(group, context):
                has_change = bool(candidate.files or candidate.config) or self.kind == "unsafe"
                # Advice without a patch, because the patch could change other calls.
                kind = self.kind if has_change else "rewrite"
                yield msgspec.structs.replace(candidate, name=self.name, kind=kind)


def is_specialized(group: RecompileGroup) -> bool:
    """Return whether a line needs a size that is marked as dynamic already.

    If other sizes change together with it, one that is not marked may be the reason.
    """
    is_tied = any("together with it" in note for note in group.notes)
    return "marked dynamic, but specialized" in group.notes and not is_tied


@cache
def all_remedies() -> tuple[RemedyModule, ...]:
    """Return the remedies in the order in which they are tried."""
    names = [each.name for each in iter_modules(__path__) if not each.name.startswith("_")]
    found = [_read(import_module(f"{__name__}.{name}")) for name in names]
    return tuple(sorted(found, key=lambda each: (each.order, each.name)))


def _read(module: ModuleType) -> RemedyModule:
    return RemedyModule(
        name=module.__name__.rpartition(".")[2],
        title=module.TITLE,
        kind=module.KIND,
        order=module.ORDER,
        about=module.__doc__ or "",
        is_for_bounded=getattr(module, "BOUNDED", False),
        makes_dynamic=getattr(module, "DYNAMIC", False),
        propose_in_module=module.propose,
    )


def propose_all(group: RecompileGroup, context: ProgramContext) -> list[Candidate]:
    """Return the candidates of all remedies for a group, the ones to try first in front."""
    return [each for remedy in all_remedies() for each in remedy.propose(group, context)]
