"""A forward saves an activation with `torch.save` for a later look at it. torch marks its own
functions for files, `torch.save` and `torch.load`, as functions that Dynamo does not trace.
"""

import os
import tempfile

import torch

from fullgraph.catalog.fix_decorator import fix

TITLE = "`torch.save`"

PATH = os.path.join(tempfile.gettempdir(), "fullgraph_catalog_hidden.pt")


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = x.relu()
    torch.save(hidden, PATH)
    return hidden.softmax(dim=-1)


def save_hidden(results):
    hidden, probabilities = results
    torch.save(hidden, PATH)
    return probabilities


@fix("move", "exact", after=save_hidden)
def fixed(x):
    """The compiled function returns the activation as well, and the caller saves it."""
    hidden = x.relu()
    return hidden, hidden.softmax(dim=-1)
