"""Call one of the zoo's most broken models in a steady state.

    python most_broken.py NAME [CALLS]

The five models with the most breaks (occurrences) in the development set are in `MOST_BROKEN`.
"""

import sys

import torch
from _model import build_model

MOST_BROKEN = (
    "PaddleOCRVLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration",
    "Qwen2VLForConditionalGeneration",
    "Glm4vForConditionalGeneration",
    "PaddleOCRVisionModel",
)


@torch.no_grad()
def call(name, calls):
    model, inputs = build_model(name)
    compiled = torch.compile(model, backend="eager")
    for _ in range(calls):
        output = compiled(**inputs)
    return output


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else MOST_BROKEN[0]
    call(name, int(sys.argv[2]) if len(sys.argv) > 2 else 20)
