"""A forward calls `logger.info(...)`. Dynamo does not trace into the logging module, and it does
not drop log calls without permission.
"""

import logging

import torch

from fullgraph.catalog.fix_decorator import fix

logger = logging.getLogger(__name__)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    logger.info("got a batch of %d", x.shape[0])
    return x.relu()


@fix("rewrite", "dropped")
def fixed(x):
    """torch.compiler.is_compiling() is a constant during tracing, so the call is not in the
    compiled code.
    """
    if not torch.compiler.is_compiling():
        logger.info("got a batch of %d", x.shape[0])
    return x.relu()


@fix("setting", "dropped", ignore_logging_functions={logging.Logger.info})
def fixed_by_ignoring(x):
    """Compiled code drops the calls of the functions in this set. The source does not change."""
    logger.info("got a batch of %d", x.shape[0])
    return x.relu()
