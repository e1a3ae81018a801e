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

_FILTERS = {
    "global": "skip_guard_on_globals_unsafe",
    "attribute": "skip_guard_on_all_nn_modules_unsafe",
    "parameter": "skip_guard_on_all_nn_modules_unsafe",
    "default": "keep_tensor_guards_unsafe",
    "closure": "keep_tensor_guards_unsafe",
}


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the filter that drops the guard of a group."""
    del context
    name = _FILTERS.get(group.place)
    if name is not None and has_feature(name):
        yield Candidate(
            f'torch.compile(…, options={{"guard_filter_fn": torch.compiler.{name}}})',
            risk=f"calls with another {group.name} get the result of the value compiled first",
        )
