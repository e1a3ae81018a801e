"""Translate sentences of different lengths; ids and mask have the same length, dynamic=False."""

import torch
from _model import build_model

model, _ = build_model("T5Model")
compiled = torch.compile(model, backend="eager", dynamic=False)


@torch.no_grad()
def translate(lengths):
    outputs = []
    for length in lengths:
        ids = torch.randint(3, 200, (2, length))
        mask = torch.ones_like(ids)
        start = torch.zeros(2, 1, dtype=torch.long)
        outputs.append(compiled(input_ids=ids, attention_mask=mask, decoder_input_ids=start))
    return outputs


translate([12, 7, 9, 15, 11, 6])
