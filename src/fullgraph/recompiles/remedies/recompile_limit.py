"""Allow more compiles of one function, for a variety that is bounded but larger than the limit.

Each value still compiles once. After that, its calls run compiled instead of in eager mode.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.source_changes import setting_edits, with_option

TITLE = "recompile_limit="
KIND = "source"
ORDER = 70

_ENTRY = "torch._dynamo.config.recompile_limit"
_MOST = 256


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the option of torch.compile, or the setting, for a limit that was reached."""
    if not group.refused or group.limit != "recompile_limit":
        return
    limit = _limit(group)
    calls = context.compile_calls(group)
    option = with_option(calls, "recompile_limit", str(limit))
    if option and has_feature("recompile_limit="):
        file, call = calls[0]
        yield Candidate(
            f"torch.compile(…, recompile_limit={limit})",
            where=file.frame(call),
            files=option,
            aim="eager_calls",
        )
        return
    statement = f"{_ENTRY} = {limit}"
    files = setting_edits(context, [statement], ["import torch._dynamo"])
    yield Candidate(statement, files=files, config={_ENTRY: limit}, aim="eager_calls")


def _limit(group: RecompileGroup) -> int:
    """Return twice the number of compiles that the calls would have needed, as a power of two."""
    eager = group.calls.eager if group.calls is not None else group.refused
    wanted = 2 * (group.recompiles + 1 + eager)
    return min(1 << (wanted - 1).bit_length(), _MOST)
