"""What `fullgraph where` says if there is nothing to measure."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fullgraph.where.facts import Recorded
from fullgraph.where.pipeline import WhereError, require_calls

RECORDED = Recorded("2.13.0", 1, ("model",), ("model",), "inductor")


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        (
            replace(RECORDED, error="ValueError: no data", details="train.py:3: load()"),
            "the program fails on its own: ValueError: no data .train.py:3: load...; make it run",
        ),
        (replace(RECORDED, targets=()), "never calls the functions that it compiles .model.; call"),
        (replace(RECORDED, targets=(), compiled=()), "no torch.nn.Module and compiles no function"),
        (replace(RECORDED, unknown_backend="tmv"), "there is no backend tmv; torch.compiler.list_"),
    ],
)
def test_a_program_without_calls_has_an_error_that_says_what_to_do(
    recorded: Recorded, message: str
) -> None:
    with pytest.raises(WhereError, match=message):
        require_calls(recorded)


def test_a_program_with_calls_is_measured() -> None:
    require_calls(RECORDED)
