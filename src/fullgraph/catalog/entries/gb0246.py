"""`F.one_hot(labels)` without the number of classes infers it from the largest label, so the width
of the result is data-dependent.
"""

import torch
import torch.nn.functional as F

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.tensor([0, 2, 1, 2])


def breaks(labels):
    return F.one_hot(labels).float()


@fix("rewrite", "narrower")
def fixed(labels):
    """The model knows the number of classes, which makes the shape static. The result is the same
    if the last class occurs among the labels. Otherwise it has additional columns.
    """
    return F.one_hot(labels, num_classes=3).float()
