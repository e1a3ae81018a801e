"""An exception is made with keyword arguments, such as `ImportError(..., name="flash_attn")`, and a
caller catches it to use a fallback.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(2, 4, 8)


flash_attn = None  # the result of `try: import flash_attn` if it is not installed


def flash_attention(x):
    if flash_attn is None:
        raise ImportError("flash_attn is not installed", name="flash_attn")
    return flash_attn.flash_attn_func(x, x, x)


def breaks(x):
    try:
        return flash_attention(x)
    except ImportError:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)


@fix("rewrite", "exact")
def fixed(x):
    """The module knows whether the package is installed. An ordinary `if` decides this during
    tracing, and no exception is needed.
    """
    if flash_attn is not None:
        return flash_attention(x)
    return torch.nn.functional.scaled_dot_product_attention(x, x, x)


def flash_attention_plain(x):
    if flash_attn is None:
        raise ImportError("flash_attn is not installed")
    return flash_attn.flash_attn_func(x, x, x)


@fix("rewrite", "exact")
def fixed_without_the_keyword(x):
    """Dynamo traces an exception made without keywords to its handler."""
    try:
        return flash_attention_plain(x)
    except ImportError:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)
