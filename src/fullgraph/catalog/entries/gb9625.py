"""A handler reads the position of the failing instruction, `error.__traceback__.tb_lasti`, for a
report on what went wrong.
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
    """The line number is known to Dynamo and says more to a reader; the offset of an instruction
    is only good for looking at bytecode."""
    try:
        x = batch["pixels"]
    except KeyError as error:
        REPORTS.append(error.__traceback__.tb_lineno)
        x = batch["image"]
    return x.relu()
