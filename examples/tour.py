"""A small model with the kinds of code that most often break graphs: a tour of the report.

fullgraph run examples/tour.py
"""

import logging

import torch
from torch import Tensor, nn

log = logging.getLogger(__name__)


class Gate(nn.Module):
    """Scores its input, and takes another branch when the scores are low."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.score(x)
        if scores.sum() > 0:  # a branch on a tensor's value
            return x * scores
        return x - scores


class Blocks(nn.Module):
    """Runs its layers in a loop, and logs each of them."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = torch.relu(layer(x))
            log.info("layer %d done", number)  # a side effect, inside a loop
        return x


class Model(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.gate = Gate(width)
        self.blocks = Blocks(width, depth=3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(self.gate(x))
        scale = x.abs().max().item()  # a tensor's value as a Python number
        return normalize(x / max(scale, 1.0))


@torch.compiler.disable
def normalize(x: Tensor) -> Tensor:
    return x - x.mean()


def main() -> None:
    torch.manual_seed(0)
    model = torch.compile(Model(), backend="eager")
    for batch in (4, 6, 9):
        output = model(torch.randn(batch, 8))
    print(f"done: {tuple(output.shape)}")


if __name__ == "__main__":
    main()
