"""Skip guards after the warm-up with `set_stance(skip_guard_eval_unsafe=True)`.

torch then checks only what tells compiled code apart. A call that no compiled code fits gets a
wrong result without an error. It is never verified and never written.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = "set_stance(skip_guard_eval_unsafe=True)"
KIND = "unsafe"
ORDER = 110


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the stance where a limit was reached."""
    del context
    if group.refused and has_feature("skip_guard_eval_unsafe"):
        yield Candidate(
            "torch.compiler.set_stance(skip_guard_eval_unsafe=True)  after the warm-up",
            risk="a call that differs from those of the warm-up gets a wrong result",
        )
