"""A forward writes to the log, `logger.info(...)`. Dynamo does not trace into the logging module,
and leaving the message out is not its decision to make.
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
    """torch.compiler.is_compiling() is a constant while tracing, so the call vanishes there."""
    if not torch.compiler.is_compiling():
        logger.info("got a batch of %d", x.shape[0])
    return x.relu()


@fix("setting", "dropped", ignore_logging_functions={logging.Logger.info})
def fixed_by_ignoring(x):
    """Calls of the functions in this set are left out of compiled code, without touching it."""
    logger.info("got a batch of %d", x.shape[0])
    return x.relu()
