"""Changes of aliasing: objects that became one, or are no longer one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from fullgraph.capture.changes.failed_guard import FailedGuard, new_change
from fullgraph.capture.guard_lines import without_comment
from fullgraph.capture.guard_sources import FrameFacts, readable
from fullgraph.model.events import GuardChange


def new_aliases(guard: FailedGuard, frame: FrameFacts) -> Iterator[GuardChange]:
    """Yield the tensors that are one object now, of those that were different ones."""
    sources = _call_arguments(without_comment(guard.part))
    seen: dict[int, str] = {}
    for source in sources:
        try:
            value = frame.evaluate(source)
        except Exception:
            continue
        if id(value) in seen:
            first = seen[id(value)]
            yield alias_change(guard, frame, [first, source], "different tensors", "one tensor")
        else:
            seen[id(value)] = source


def alias_change(
    guard: FailedGuard, frame: FrameFacts, sources: list[str], before: str, now: str
) -> GuardChange:
    """Return the change of two expressions that are one object, or no longer are."""
    sources = sorted(sources)
    change = new_change(guard, frame, "aliasing", before, now, source=sources[0])
    names = " and ".join(readable(source, frame) for source in sources)
    return replace(change, source=", ".join(sources), name=names)


def _call_arguments(text: str) -> list[str]:
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return []
    return [ast.unparse(each) for each in call.args] if isinstance(call, ast.Call) else []
