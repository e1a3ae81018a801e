"""Mark the layers that repeat with `torch.compiler.nested_compile_region` and compile the model.

Layers of one class that are compiled one by one share one limit. As a region of one compiled model,
the layer is compiled once and reused where it fits.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = "nested_compile_region"
KIND = "rewrite"
ORDER = 82


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice where several objects share the compiled code of their class."""
    del context
    is_shared = any("objects share this code" in note for note in group.notes)
    if is_shared and has_feature("nested_compile_region"):
        name = group.qualified or group.function
        yield Candidate(
            f"compile the whole model, with @torch.compiler.nested_compile_region on {name}"
        )
