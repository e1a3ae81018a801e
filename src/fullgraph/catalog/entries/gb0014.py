"""A model uses nn.LSTM, nn.GRU or nn.RNN. By default Dynamo does not trace into these modules and
breaks at each call.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

with torch.random.fork_rng():
    encoder = torch.nn.GRU(8, 16, batch_first=True).requires_grad_(False)


def inputs():
    return torch.randn(2, 5, 8)


def breaks(x):
    states, _ = encoder(x)
    return states.mean(dim=1)


@fix("setting", "equal", allow_rnn=True)
def fixed(x):
    """With allow_rnn Dynamo traces into these modules."""
    states, _ = encoder(x)
    return states.mean(dim=1)
