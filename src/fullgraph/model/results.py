"""What the calls of compiled functions returned, in a compact form that two runs are compared by.

A file of results has one record per line of `Results`: the start of the run, the functions that
were compiled, and each outermost call. `docs/recompiles.md` describes what is compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, msgpack

from fullgraph.model.events import Code, Frame

RESULTS_SUFFIX = ".results"
_LENGTH_BYTES = 4
# The relative difference that rounding may cause, as in `outcomes/compare.py`.
_TOLERANCE = {"float64": 1e-7, "complex128": 1e-7, "bfloat16": 2e-2, "float16": 5e-3}
_DEFAULT_TOLERANCE = 1e-4


class RunStart(Struct, frozen=True, tag="start"):
    """The seed of torch's random numbers when the program started to compile."""

    seed: int


class CompiledAt(Struct, frozen=True, tag="target"):
    """A function that the program compiles, and the line that calls `torch.compile`."""

    code: Code
    site: Frame | None


class TensorFacts(Struct, frozen=True):
    """The properties of a tensor, sums over its values, and some of its values."""

    dtype: str
    shape: tuple[int, ...]
    requires_grad: bool
    total: float
    absolute: float
    samples: tuple[float, ...]


Leaf = TensorFacts | str


class CallResult(Struct, frozen=True, tag="call"):
    """What one outermost call returned or raised, and the state that it found."""

    number: int
    name: str
    outputs: dict[str, Leaf]
    # Parameters and gradients before the call; empty for most calls.
    state: dict[str, Leaf] = {}
    error: str = ""


Record = RunStart | CompiledAt | CallResult


def encode_record(record: Record) -> bytes:
    """Return a record with its length in front."""
    data = msgpack.encode(record)
    return len(data).to_bytes(_LENGTH_BYTES, "little") + data


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file; an incomplete one at its end is left out."""
    decoder = msgpack.Decoder(Record)
    with path.open("rb") as file:
        while len(head := file.read(_LENGTH_BYTES)) == _LENGTH_BYTES:
            length = int.from_bytes(head, "little")
            data = file.read(length)
            if len(data) < length:
                return
            yield decoder.decode(data)


def difference(before: CallResult, after: CallResult, *, any_requires_grad: bool = False) -> str:
    """Return how a call differs from the same call of another run; empty if it does not.

    With `any_requires_grad`, one may need gradients where the other does not.
    """
    properties = ("dtype", "shape") if any_requires_grad else ("dtype", "shape", "requires_grad")
    if before.name != after.name:
        return f"{after.name} is called instead of {before.name}"
    if before.error != after.error:
        return f"raises {after.error or 'nothing'} instead of {before.error or 'nothing'}"
    for what, old, new in (
        ("state", before.state, after.state),
        ("output", before.outputs, after.outputs),
    ):
        if old.keys() != new.keys():
            return f"{what}: {sorted(old.keys() ^ new.keys())[0]} is only in one run"
        for path, leaf in old.items():
            problem = _leaf_difference(leaf, new[path], properties)
            if problem:
                return f"{what} {path}: {problem}".replace(" : ", ": ")
    return ""


def _leaf_difference(old: Leaf, new: Leaf, properties: tuple[str, ...]) -> str:
    if isinstance(old, str) or isinstance(new, str):
        return "" if old == new or _same_number(old, new) else "another value"
    for name in properties:
        if getattr(old, name) != getattr(new, name):
            return f"{name} {getattr(new, name)} instead of {getattr(old, name)}"
    limit = _TOLERANCE.get(old.dtype, _DEFAULT_TOLERANCE)
    if not _is_close(old.total, new.total, limit * (1 + _size(old.absolute))):
        return "other values"
    pairs = zip(old.samples, new.samples, strict=True)
    if not all(_is_close(one, other, limit * (1 + _size(one))) for one, other in pairs):
        return "other values"
    return ""


def _size(value: float) -> float:
    return abs(value) if math.isfinite(value) else 0.0


def _is_close(one: float, other: float, allowed: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= allowed


def _same_number(old: Leaf, new: Leaf) -> bool:
    try:
        return math.isclose(float(str(old)), float(str(new)), rel_tol=1e-4, abs_tol=1e-6)
    except ValueError:
        return False
