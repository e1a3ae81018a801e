"""Which writes of attributes are seen in a run in eager mode."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from torch import nn

from fullgraph.capture.measures.writes import WriteTracer
from fullgraph.model.events import Frame
from fullgraph.model.watches import Watch

LINE = Frame("/program.py", 34, "main", code='setattr(model, "k", 7)')


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = 7
        self.weight = nn.Parameter()

    def forward(self) -> None: ...


def written(tracer: WriteTracer, model: Layer, name: str) -> tuple[Frame | None, Frame | None]:
    """Return the line that wrote an attribute of an object, and that of every object."""
    wrapper: Any = SimpleNamespace(f_locals={"fn": model.forward, "args": (), "kwargs": {}})
    watch = Watch(f"L['self'].{name}", "attribute", name, ())
    of_class = Watch(watch.source, "attribute", name, (), holder="Layer")
    return (
        tracer._written_attribute(watch, wrapper, 0),
        tracer._written_attribute(of_class, wrapper, 0),
    )


def test_a_value_that_was_written_unseen_has_no_line() -> None:
    model, tracer = Layer(), WriteTracer([], lambda event: None)
    for name in ("k", "weight"):
        tracer._note_attribute(model, name, LINE, getattr(model, name))
        assert written(tracer, model, name) == (LINE, LINE)
    model.__dict__["k"] = 50
    assert written(tracer, model, "k") == (None, None)
