"""`F.one_hot(labels)` without the number of classes takes it from the largest label, so the width
of the result depends on the values.
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
    """The number of classes is known to the model; given, it fixes the shape. The result is the
    same where the last class occurs among the labels, and else has the columns that were missing.
    """
    return F.one_hot(labels, num_classes=3).float()
