"""Allow more compiles of one function, for a variety that is bounded but larger than the limit.

Each value still compiles once. After that, its calls run compiled instead of in eager mode, or
instead of raising an error under `fullgraph=True`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

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
_ONLY_DELAYS = "  (only delays the limit: the values grow)"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the option of torch.compile, or the setting, for a limit that was reached."""
    if not group.refused or group.limit != "recompile_limit":
        return
    if any("created again" in note for note in group.notes):
        # Each call has another one, so no limit is high enough.
        return
    limit = _limit(group)
    delay = _ONLY_DELAYS if _grows(group.values) else ""
    calls = context.compile_calls(group)
    option = with_option(calls, "recompile_limit", str(limit))
    if option and has_feature("recompile_limit="):
        file, call = calls[0]
        yield Candidate(
            f"torch.compile(…, recompile_limit={limit}){delay}",
            where=file.frame(call),
            files=option,
            aim="eager_calls",
        )
        return
    statement = f"{_ENTRY} = {limit}"
    files = setting_edits(context, [statement], ["import torch._dynamo"])
    yield Candidate(f"{statement}{delay}", files=files, config={_ENTRY: limit}, aim="eager_calls")


def _grows(values: Sequence[str]) -> bool:
    """Return whether values are numbers that grow, as the length of a history does."""
    if len(values) < 2 or not all(value.isdecimal() for value in values):
        return False
    numbers = [int(value) for value in values]
    return all(before < now for before, now in pairwise(numbers))


def _limit(group: RecompileGroup) -> int:
    """Return twice the number of compiles that the calls would have needed, as a power of two."""
    calls = group.calls
    at_limit = calls.eager + calls.raised if calls is not None else group.refused
    wanted = 2 * (group.recompiles + 1 + at_limit)
    return min(1 << (wanted - 1).bit_length(), _MOST)
