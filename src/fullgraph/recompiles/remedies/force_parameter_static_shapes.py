"""Let the sizes of parameters be dynamic, for modules whose parameters grow.

By default, Dynamo takes the shape of a parameter for constant, even with `dynamic=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.source_changes import setting_edits, with_option

TITLE = "force_parameter_static_shapes=False"
KIND = "setting"
ORDER = 10

_ENTRY = "torch._dynamo.config.force_parameter_static_shapes"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the setting for a parameter whose size changes, with `dynamic=True`."""
    if group.kind != "size" or group.place not in ("parameter", "attribute"):
        return
    if not has_feature("force_parameter_static_shapes"):
        return
    setting = setting_edits(context, [f"{_ENTRY} = False"], ["import torch._dynamo"])
    option = with_option(context.compile_calls(group), "dynamic", "True")
    if setting and option:
        text = f"{_ENTRY} = False, and torch.compile(…, dynamic=True)"
        yield Candidate(text, files=(*setting, *option))
    config = {_ENTRY: False, "torch._dynamo.config.force_nn_module_property_static_shapes": False}
    statements = [f"{name} = False" for name in config]
    files = setting_edits(context, statements, ["import torch._dynamo"])
    if files:
        yield Candidate("; ".join(statements), files=files)
