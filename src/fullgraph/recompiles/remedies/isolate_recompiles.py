"""Give each call of `torch.compile` its own compiled code and its own limit.

Functions of one factory, and layers of one class, share their code and therefore its limit. With
`isolate_recompiles=True` they compile as often as before, but none runs in eager mode. It is not
for functions that are compiled for one call: each call would compile.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.source_changes import with_option

TITLE = "isolate_recompiles=True"
KIND = "source"
ORDER = 30


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the option where several calls of torch.compile share a limit that was reached."""
    is_shared = any("share this code" in note for note in group.notes)
    if not group.refused or not is_shared or not has_feature("isolate_recompiles="):
        return
    if group.kind == "backend" or context.is_compiled_per_call(group):
        return
    calls = context.compile_calls(group)
    files = with_option(calls, "isolate_recompiles", "True")
    if files:
        file, call = calls[0]
        yield Candidate(
            "torch.compile(…, isolate_recompiles=True)",
            where=file.frame(call),
            files=files,
            aim="eager_calls",
        )
