"""Treat integer attributes of modules like integer arguments: dynamic once they change.

By default, Dynamo guards on the value of each integer attribute, so a counter or a schedule that is
kept in a module compiles again with every value.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.source_changes import setting_edits

TITLE = "allow_unspec_int_on_nn_module"
KIND = "setting"
ORDER = 10

_ENTRY = "torch._dynamo.config.allow_unspec_int_on_nn_module"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the setting for an integer attribute."""
    if group.kind != "int" or group.place != "attribute":
        return
    if has_feature("allow_unspec_int_on_nn_module"):
        statement = f"{_ENTRY} = True"
        files = setting_edits(context, [statement], ["import torch._dynamo"])
        yield Candidate(statement, files=files, config={_ENTRY: True})
