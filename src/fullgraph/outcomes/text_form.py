"""Outcomes as text alone: tensors become checksums. Small, and compared as quickly as text.

Two tensors have the same text if they are equal bit for bit; one NaN is as good as another.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import torch

from fullgraph.outcomes.observe import CallOutcome, Leaf

_LEAVES = ("outputs", "inputs", "state", "gradients")


def in_text(outcome: CallOutcome) -> CallOutcome:
    """Return an outcome whose tensors are replaced by descriptions of their contents."""
    described: dict[str, Any] = {
        name: {path: described_leaf(leaf) for path, leaf in getattr(outcome, name).items()}
        for name in _LEAVES
    }
    return replace(outcome, **described)


def as_plain(outcome: CallOutcome) -> dict[str, Any]:
    """Return an outcome in text as a dictionary that JSON can hold."""
    return asdict(in_text(outcome))


def described_leaf(leaf: Leaf) -> str:
    """Return a text that is the same for equal leaves only."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    kind = f"{leaf.dtype} {tuple(leaf.shape)}"
    if leaf.layout != torch.strided:
        kind, leaf = f"{leaf.layout} {kind}", leaf.to_dense()
    return f"tensor {kind} {_checksum(leaf.detach())}"


def _checksum(tensor: torch.Tensor) -> str:
    flat = tensor.cpu().contiguous().reshape(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat.resolve_conj()).reshape(-1)
    if flat.is_floating_point():
        # The smallest dtypes have no such operators.
        with suppress(NotImplementedError, RuntimeError):
            flat = flat.masked_fill(flat.isnan(), float("nan"))
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return hashlib.blake2b(data, digest_size=16).hexdigest()
