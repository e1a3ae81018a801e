"""The measure `guards`: every guard of a compile, and what a check of them costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import fullgraph
from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.guard_cost import measure_guards
from fullgraph.capture.measures import guards
from fullgraph.model.events import Guards, Problem


class Model(torch.nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(layers))
        self.scale = 3

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x * self.scale


@pytest.fixture
def watch() -> Iterator[fullgraph.capture.api.Watch]:
    torch._dynamo.reset()
    guards.start(lambda _: None)
    with fullgraph.watch() as session:
        yield session
    capture.measured.discard("guards")
    torch._dynamo.reset()


def captured(session: fullgraph.capture.api.Watch) -> list[Guards]:
    events = session.session().events
    assert [event for event in events if isinstance(event, Problem)] == []
    return [event for event in events if isinstance(event, Guards)]


def test_every_guard_has_a_readable_name_and_a_share_of_the_check(
    watch: fullgraph.capture.api.Watch,
) -> None:
    torch.compile(Model(2), backend="eager")(torch.ones(2, 4))
    (event,) = captured(watch)
    by_kind = {(guard.kind, guard.name) for guard in event.guards}
    assert ("TENSOR_MATCH", "x") in by_kind
    assert ("TENSOR_MATCH", "self.layers[1].weight") in by_kind
    assert ("EQUALS_MATCH", "self.scale") in by_kind
    assert event.code.qualified == "Model.forward"
    assert event.seconds is not None
    # Each share is rounded to tenths of a nanosecond.
    rounding = len(event.guards) * 1e-10
    costs = [guard.seconds for guard in event.guards]
    assert sum(costs) == pytest.approx(event.seconds, abs=rounding)
    assert costs == sorted(costs, reverse=True)


def test_compiled_code_still_fits_after_its_guards_were_timed(
    watch: fullgraph.capture.api.Watch,
) -> None:
    # No two arguments may be the same tensor: such a guard remembers what it has seen.
    compiled = torch.compile(lambda x, y, n: x + y + n, backend="eager")
    for _ in range(3):
        compiled(torch.ones(2), torch.ones(2), 5)
    (event,) = captured(watch)
    assert "NO_TENSOR_ALIASING" in {guard.kind for guard in event.guards}
    assert watch.summary.compiles == 1


def test_guards_are_captured_again_after_a_reset(watch: fullgraph.capture.api.Watch) -> None:
    for _ in range(2):
        torch.compile(Model(1), backend="eager")(torch.ones(2, 4))
        torch._dynamo.reset()
    assert [event.compile for event in captured(watch)] == ["0/0", "0/0~2"]


def test_the_time_of_a_check_is_kept_for_its_code(watch: fullgraph.capture.api.Watch) -> None:
    torch.compile(Model(1), backend="eager")(torch.ones(2, 4))
    (event,) = captured(watch)
    assert measure_guards(Model.forward.__code__) == event.seconds
    assert measure_guards(Model.__init__.__code__) is None


def test_guards_are_not_captured_unless_requested() -> None:
    with fullgraph.watch() as session:
        torch.compile(Model(1), backend="eager")(torch.ones(2, 4))
    torch._dynamo.reset()
    assert captured(session) == []


def test_names_are_those_that_a_user_would_write(watch: fullgraph.capture.api.Watch) -> None:
    torch.compile(lambda x, d: torch.relu(x) + len(d) + d["y"], backend="eager")(
        torch.ones(2), {"y": torch.ones(2)}
    )
    (event,) = captured(watch)
    assert {("global", "torch.relu"), ("argument", "d['y']")} <= {
        (guard.place, guard.name) for guard in event.guards
    }


def test_a_condition_on_a_dynamic_number_names_it(watch: fullgraph.capture.api.Watch) -> None:
    compiled = torch.compile(lambda x, scale: x * scale, backend="eager")
    for scale in (1.5, 2.5):
        compiled(torch.ones(3), scale)
    conditions = [
        guard for event in captured(watch) for guard in event.guards if guard.kind == "SHAPE_ENV"
    ]
    assert {guard.name for guard in conditions} == {"scale"}
