"""Drop guards with `guard_filter_fn` and one of torch's filters.

Compiled code then runs for values that it was not compiled for, and may return wrong results
without an error. It is never verified and never written.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = "guard_filter_fn with torch's unsafe filters"
KIND = "unsafe"
ORDER = 100

_GLOBALS = "skip_guard_on_globals_unsafe"
_MODULES = "skip_guard_on_all_nn_modules_unsafe"
_NO_TENSORS = "keep_tensor_guards_unsafe"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the filter that drops the guard of a group."""
    name = _filter(group, context)
    if name is not None and has_feature(name):
        yield Candidate(
            f'torch.compile(…, options={{"guard_filter_fn": torch.compiler.{name}}})',
            risk=f"calls with another {group.name} get the result of the value compiled first",
        )


def _filter(group: RecompileGroup, context: ProgramContext) -> str | None:
    """Return torch's filter that drops the guard; None if there is none for such a value."""
    if group.place in ("default", "closure"):
        return _NO_TENSORS
    if group.place not in ("global", "attribute", "parameter"):
        return None
    if group.source.startswith("G["):
        return _GLOBALS
    changes = [each for each in context.changes(group) if each.source == group.source]
    in_module = group.place == "parameter" or any(each.in_module for each in changes)
    return _MODULES if in_module else None
