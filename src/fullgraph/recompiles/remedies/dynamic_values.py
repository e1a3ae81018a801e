"""Name the first value in `TORCH_COMPILE_DYNAMIC_VALUES`: whatever has it becomes dynamic.

It needs no names, so it also reaches values below graph breaks. Other sizes and numbers that happen
to have the same value become dynamic, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = "TORCH_COMPILE_DYNAMIC_VALUES"
KIND = "environment"
ORDER = 58
DYNAMIC = True


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the environment variable for sizes and integers."""
    del context
    first = group.values[0] if group.values else ""
    if group.kind not in ("size", "int") or not first.isdigit() or int(first) < 2:
        return
    if has_feature("dynamic_values"):
        yield Candidate(
            f'TORCH_COMPILE_DYNAMIC_VALUES="{first}"  without touching the code',
            config={"torch.compiler.config.dynamic_values": first},
        )
