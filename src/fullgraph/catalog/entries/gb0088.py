"""The compiled function raises an exception that nothing inside it catches: an invalid argument, a
missing key, an exhausted iterator. The exception belongs to the program.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True

MAX_LENGTH = 8


def inputs():
    return torch.randn(4, 12)


def breaks(tokens):
    if tokens.shape[1] > MAX_LENGTH:
        raise ValueError(f"at most {MAX_LENGTH} tokens")
    return tokens.cumsum(dim=1)


def truncate(tokens):
    return tokens[:, :MAX_LENGTH]


@fix("move", "narrower", before=truncate)
def fixed(tokens):
    """The caller passes a valid input, so the exception is never raised. The check can stay,
    because it runs during tracing.
    """
    if tokens.shape[1] > MAX_LENGTH:
        raise ValueError(f"at most {MAX_LENGTH} tokens")
    return tokens.cumsum(dim=1)
