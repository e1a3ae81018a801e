"""An exception is made with keyword arguments, such as `ImportError(..., name="flash_attn")`, and
caught further up to take a fallback.
"""

import torch

from fullgraph.catalog.kit import fix


def inputs():
    return torch.randn(2, 4, 8)


def _flash_attention(x):
    raise ImportError("flash_attn is not installed", name="flash_attn")


def _flash_attention_plain(x):
    raise ImportError("flash_attn is not installed")


def breaks(x):
    try:
        return _flash_attention(x)
    except ImportError:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)


@fix("rewrite", "exact")
def fixed(x):
    """Without the keyword the exception is followed to its handler while tracing."""
    try:
        return _flash_attention_plain(x)
    except ImportError:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)
