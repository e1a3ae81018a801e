"""Explanations as JSON; docs/ai.md describes the fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fullgraph.render import _json

if TYPE_CHECKING:
    from fullgraph.ai.explain import Explanation


def render(explanations: Sequence[Explanation], **_: object) -> str:
    """Return the first explanation; `also` has those of further breaks at the same place."""
    from fullgraph.ai.explain import FORMAT

    first, *others = explanations
    fields = {"format": FORMAT, **_fields(first)}
    if others:
        fields["also"] = [_fields(each) for each in others]
    return _json.render(fields)


def _fields(explanation: Explanation) -> dict[str, Any]:
    return {
        "place": explanation.place,
        "id": explanation.id,
        "type": explanation.type,
        "answer": explanation.answer,
        "checks": explanation.checks,
        "usage": explanation.usage,
    }
