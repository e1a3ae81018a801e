"""Raise the limit of all compiles of one function together, where that is the limit reached."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.source_changes import setting_edits

TITLE = "accumulated_recompile_limit"
KIND = "setting"
ORDER = 70

_ENTRY = "torch._dynamo.config.accumulated_recompile_limit"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the setting with four times the limit."""
    if group.limit != "accumulated_recompile_limit" or not group.refused:
        return
    if has_feature("accumulated_recompile_limit"):
        limit = 4 * (group.limit_value or 256)
        statement = f"{_ENTRY} = {limit}"
        files = setting_edits(context, [statement], ["import torch._dynamo"])
        yield Candidate(statement, files=files, config={_ENTRY: limit}, aim="eager_calls")
