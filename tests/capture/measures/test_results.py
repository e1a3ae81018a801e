"""What the outermost calls of compiled functions returned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from fullgraph.capture.dynamo_hooks import COMPILE_CALL, look_up
from fullgraph.capture.measures.results import ResultRecorder
from fullgraph.model.results import CallResult, Record


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Record]]:
    owner, name, original = look_up(str(torch.__version__), COMPILE_CALL)
    monkeypatch.setattr(owner, name, original)  # The recorder replaces it.
    found: list[Record] = []
    ResultRecorder(found.append).install()
    yield found
    torch._dynamo.reset()


class Step(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x: torch.Tensor, fail: bool = False) -> torch.Tensor:
        if fail:
            raise ValueError("no")
        return x * self.weight


def test_every_call_is_recorded_and_the_state_of_a_few(records: list[Record]) -> None:
    model = Step()
    compiled = torch.compile(model, backend="eager")
    for number in range(12):
        result = compiled(torch.full((2,), float(number)))
        assert torch.equal(result, number * torch.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="no"):
        compiled(torch.ones(2), fail=True)
    calls = [each for each in records if isinstance(each, CallResult)]
    assert [call.number for call in calls] == list(range(1, 14))
    # Reading all parameters is slow, so later calls have it only now and then.
    assert [bool(call.state) for call in calls] == [*[True] * 8, *[False] * 5]
    assert [call.error for call in calls] == [*[""] * 12, "ValueError"]
