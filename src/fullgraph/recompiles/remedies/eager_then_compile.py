"""Let the first call run in eager mode and compile with the second: changing sizes are then known.

`torch.compiler.set_stance("eager_then_compile")` saves the static first compile.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.source_changes import setting_edits

TITLE = 'set_stance("eager_then_compile")'
KIND = "setting"
ORDER = 59
DYNAMIC = True


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the stance for sizes and integers that Dynamo makes dynamic by itself."""
    is_automatic = not any(note == "dynamic=False" for note in group.notes)
    if group.kind not in ("size", "int") or not is_automatic:
        return
    if has_feature("eager_then_compile"):
        statement = 'torch.compiler.set_stance("eager_then_compile")'
        files = setting_edits(context, [statement], ["import torch"])
        if files:
            yield Candidate(statement, files=files, eager_first_calls=True)
