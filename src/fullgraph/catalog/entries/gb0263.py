"""A helper made with `@contextlib.contextmanager` is used while the configuration disables tracing
of such helpers.
"""

from contextlib import contextmanager

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"enable_trace_contextlib": False}


@contextmanager
def frozen(enabled):
    if enabled:
        with torch.no_grad():
            yield
    else:
        yield


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with frozen(True):
        return x.softmax(dim=-1)


@fix("setting", "exact", enable_trace_contextlib=True)
def fixed(x):
    """With the default setting Dynamo traces the helper up to its yield and after it."""
    with frozen(True):
        return x.softmax(dim=-1)


@fix("rewrite", "exact", enable_trace_contextlib=False)
def fixed_with_set_grad_enabled(x):
    """Dynamo supports torch's own context managers without tracing contextlib."""
    with torch.set_grad_enabled(False):
        return x.softmax(dim=-1)
