"""Call one of the zoo's most broken models in a steady state.

    python most_broken.py NAME [CALLS]

`bench/cost.py` names the five models with the most breaks in the development set.
"""

import sys

import torch
from _model import build_model


@torch.no_grad()
def call(name, calls):
    model, inputs = build_model(name)
    compiled = torch.compile(model, backend="eager")
    for _ in range(calls):
        output = compiled(**inputs)
    return output


if __name__ == "__main__":
    call(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20)
