"""Answers as models write them."""

from __future__ import annotations

import json

GOOD = {
    "cause": "`.item()` on line 11 reads a number from a tensor.",
    "why": "Dynamo traces with tensors that have no values.",
    "worth": "It splits forward in two.",
    "change": "Keep scale a tensor, as with torch.clamp.",
    "escape": "torch.compiler.disable loses the graph of forward.",
    "snippet": "scale = x.abs().max()\nreturn x / torch.clamp(scale, min=1.0)",
    "confidence": "high",
    "facts": ["F2"],
    "lines": ["model.py:11"],
    "names": ["torch.clamp"],
    "settings": ["torch._dynamo.config.capture_scalar_outputs"],
    "category": "data-dependent",
}


def answer(**changes: object) -> str:
    """Return a good answer with some fields changed."""
    return json.dumps({**GOOD, **changes})


def pieces(text: str, size: int = 7) -> list[str]:
    """Return a text cut into pieces."""
    return [text[start : start + size] for start in range(0, len(text), size)]
