"""LSTM, GRU and RNN modules are traced like other modules.

Dynamo leaves them out by default, because a long loop over time steps makes a large graph in some
backends. `allow_rnn` lets them in; their kernels are single operators on most devices.

Exact: the same operators run.
"""

from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate

TITLE = "recurrent modules let into the graph"
KIND = "setting"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    # The second since 2.15, for this among others; whether it is this shows when it is tried.
    if spot.cause.id in ("GB0014", "GB0148"):
        yield Candidate("allow_rnn", TITLE, "setting", "exact", settings={"allow_rnn": True})


CHANGES = {
    "an LSTM": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(4, 4)

    def forward(self, x):
        return self.lstm(x)[0] + 1

GRADIENTS = False
f = Model().eval()

def inputs():
    return (torch.randn(3, 2, 4),)
""",
}
REFUSES: dict[str, str] = {}
