"""Decode a recording token by token without a cache: the ids grow with each step."""

import torch
from _model import build_model

model, inputs = build_model("WhisperModel")
features = inputs["input_features"]
compiled = torch.compile(model, backend="eager", dynamic=False)


@torch.no_grad()
def decode(steps):
    ids = torch.randint(3, 200, (2, 2))
    for _ in range(steps):
        output = compiled(input_features=features, decoder_input_ids=ids)
        next_ids = output.last_hidden_state[:, -1:].argmax(-1)
        ids = torch.cat([ids, next_ids], 1)
    return ids


decode(6)
