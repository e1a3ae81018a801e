"""What a call's values do not show: strides, shared memory, writes to inputs, random states."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterable

import torch

# Memory that tensors share, as a key; None if it cannot be told.
_Memory = tuple[str, int] | None


def result_metadata(
    results: Iterable[torch.Tensor],
    inputs: Iterable[torch.Tensor],
    state: Iterable[torch.Tensor],
    versions: list[int | None],
) -> dict[str, str]:
    """Return the strides of results and inputs, what shares memory, and which inputs are written.

    `versions` are those of the inputs before the call.
    """
    inputs = list(inputs)
    found: dict[str, str] = {}
    owners: dict[_Memory, str] = {}
    for number, tensor in enumerate(inputs):
        owners.setdefault(_memory(tensor), f"input {number}")
    for tensor in state:
        owners.setdefault(_memory(tensor), "the module")
    for number, tensor in enumerate(results):
        name = f"result {number}"
        if tensor.layout == torch.strided and not tensor.is_nested:
            found[f"strides of {name}"] = str(tensor.stride())
        found[f"requires_grad of {name}"] = str(tensor.requires_grad)
        memory = _memory(tensor)
        owner = owners.setdefault(memory, name) if memory is not None else name
        found[f"memory of {name}"] = "its own" if owner == name else f"that of {owner}"
    for number, tensor in enumerate(inputs):
        if tensor.layout == torch.strided and not tensor.is_nested:
            found[f"strides of input {number}"] = str(tensor.stride())
        found[f"requires_grad of input {number}"] = str(tensor.requires_grad)
    after = versions_of(inputs)
    found |= {
        f"writes to input {number}": str(before != now)
        for number, (before, now) in enumerate(zip(versions, after, strict=False))
    }
    return found


def versions_of(tensors: Iterable[torch.Tensor]) -> list[int | None]:
    """Return how often each tensor was written to; None if torch does not count."""
    return [None if tensor.is_inference() else tensor._version for tensor in tensors]


def _memory(tensor: torch.Tensor) -> _Memory:
    try:
        address = tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):
        return None
    return (str(tensor.device), address) if address else None


def random_states() -> dict[str, str]:
    """Return checksums of the random states of torch, Python and NumPy."""
    states = {"torch": _checksum(torch.get_rng_state().numpy().tobytes())}
    # Hashing the tuple is much faster than writing its 625 numbers.
    # The hash of None is another one in each process.
    _, state, next_gauss = random.getstate()
    states["Python"] = f"{hash(state)} {next_gauss}"
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        name, numbers, *rest = numpy.random.get_state()
        states["NumPy"] = f"{name} {_checksum(numbers.tobytes())} {rest}"
    return {f"random state of {name}": state for name, state in states.items()}


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
