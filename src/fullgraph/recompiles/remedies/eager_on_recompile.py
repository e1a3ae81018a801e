"""Run new variants in eager mode after the warm-up, so that a service never stops to compile.

`torch.compiler.set_stance("eager_on_recompile")` keeps the compiled code for the calls that it
fits. It is for variety that nothing else helps against, because other calls become slower.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = 'set_stance("eager_on_recompile")'
KIND = "rewrite"
ORDER = 90


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice where a limit was reached."""
    del context
    if group.refused and has_feature("eager_then_compile"):
        yield Candidate('torch.compiler.set_stance("eager_on_recompile")  after the warm-up')
