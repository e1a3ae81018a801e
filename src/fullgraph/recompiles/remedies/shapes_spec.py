"""Declare changing sizes where the function is compiled: `shapes_spec=` or `dynamic_shapes=`.

torch 2.13 calls the option of `torch.compile` `shapes_spec`, torch 2.15 `dynamic_shapes`. The
declared sizes are unbacked: one compile fits all of them, also 0 and 1, and code that decides by
such a size raises. So it is offered only if no call can get to such code, and shown after all other
remedies that help. It replaces `dynamic=`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.source.module_level import insert_at_top, missing_imports
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._certain import certain_rank
from fullgraph.recompiles.remedies._marking import sizes_are_free
from fullgraph.recompiles.source_changes import argument_sizes, passed_arguments, with_option_for

TITLE = "torch.compile(shapes_spec=…)"
KIND = "source"
ORDER = 46

_OPTIONS = ("dynamic_shapes", "shapes_spec")
_IMPORT = "from torch.fx.experimental.dynamic_spec import ShapeVar, TensorSpec"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the option with the sizes that change in a group."""
    option = next((name for name in _OPTIONS if has_feature(f"{name}=")), None)
    if option is None or group.kind != "size" or group.place != "argument":
        return
    if not sizes_are_free(group, context):
        return
    specs = [_spec(group, context, *each) for each in argument_sizes(group, context).items()]
    value = f"{{{', '.join(each for each in specs if each)}}}"
    calls = context.compile_calls(group)
    files = with_option_for(calls, "dynamic", option, value) if all(specs) else ()
    if files:
        file, call = calls[0]
        yield Candidate(
            f"torch.compile(…, {option}={value})",
            where=file.frame(call),
            files=tuple(_with_import(context, each) for each in files),
            needs_free_sizes=True,
            comes_last=True,
        )


def _spec(group: RecompileGroup, context: ProgramContext, source: str, dims: list[int]) -> str:
    """Return the entry for an argument; empty if its number of dimensions is not certain."""
    passed = passed_arguments(group, context, source)
    ranks = {certain_rank(each.file, each.value) for each in passed if not each.suffix}
    rank = ranks.pop() if len(ranks) == 1 else None
    if rank is None or max(dims) >= rank:
        return ""
    name = source.removeprefix("L['").removesuffix("']")
    sizes = [f'ShapeVar("{name}_{dim}")' if dim in dims else "None" for dim in range(rank)]
    return f'"{name}": TensorSpec([{", ".join(sizes)}])'


def _with_import(context: ProgramContext, edits: FileEdits) -> FileEdits:
    file = context.source(edits.path)
    text = file.text if file is not None else ""
    added = insert_at_top(text, missing_imports(text, [_IMPORT]), [])
    return FileEdits(edits.path, (*added, *edits.edits))
