"""Let torch remember between runs which sizes are dynamic, under the name of a job.

With `TORCH_COMPILE_JOB_ID`, the second run of the same job compiles with symbols at once. The first
run compiles as often as before.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = "TORCH_COMPILE_JOB_ID"
KIND = "environment"
ORDER = 88
DYNAMIC = True


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice for sizes that Dynamo makes dynamic by itself."""
    del context
    if group.kind == "size" and "dynamic=False" not in group.notes and has_feature("pgo"):
        yield Candidate(
            "TORCH_COMPILE_JOB_ID=NAME  from the second run of the same job on",
            config={"torch.compiler.config.job_id": "fullgraph"},
            needs_profile=True,
            comes_last=True,
        )
