"""A handler reads the position of the failing instruction, `error.__traceback__.tb_lasti`, for an
error report.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

REPORTS = []


def inputs():
    REPORTS.clear()
    return {"image": torch.randn(4, 8)}


def breaks(batch):
    try:
        x = batch["pixels"]
    except KeyError as error:
        REPORTS.append(error.__traceback__.tb_lasti)
        x = batch["image"]
    return x.relu()


@fix("rewrite", "narrower")
def fixed(batch):
    """Dynamo knows the line number, which is more useful to a reader. The offset of an instruction
    is useful only for reading bytecode.
    """
    try:
        x = batch["pixels"]
    except KeyError as error:
        REPORTS.append(error.__traceback__.tb_lineno)
        x = batch["image"]
    return x.relu()
