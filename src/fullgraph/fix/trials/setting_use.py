"""Which settings of a plan have no effect on what Dynamo traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.fx.experimental.symbolic_shapes import ShapeEnv

from fullgraph.fix.model import Settings

# A setting, and the property that all code of torch asks for it, where it is the only one.
_ASKED = {"capture_dynamic_output_shape_ops": "allow_dynamic_output_shape_ops"}


@contextmanager
def noting_unused(settings: Settings) -> Iterator[set[str]]:
    """Yield the settings that nothing has asked for; complete when the block has ended."""
    unused = {name for name in settings if hasattr(ShapeEnv, _ASKED.get(name, ""))}
    before = {name: vars(ShapeEnv)[_ASKED[name]] for name in unused}
    for name, asked in before.items():
        setattr(ShapeEnv, _ASKED[name], property(_noting(name, asked, unused)))
    try:
        yield unused
    finally:
        for name, asked in before.items():
            setattr(ShapeEnv, _ASKED[name], asked)


def _noting(name: str, asked: property, unused: set[str]) -> Any:
    def read(shapes: ShapeEnv) -> Any:
        unused.discard(name)
        assert asked.fget is not None
        return asked.fget(shapes)

    return read
