"""Encode batches whose masks come from five data sets, each with a type of its own."""

import torch
from _model import build_model

model, _ = build_model("BertModel")
compiled = torch.compile(model, backend="eager")
DTYPES = [torch.int64, torch.bool, torch.float32, torch.uint8, torch.int32]


@torch.no_grad()
def encode(dtypes):
    outputs = []
    for dtype in dtypes:
        ids = torch.randint(3, 200, (2, 16))
        mask = (torch.arange(16) < 12).expand(2, 16).to(dtype)
        outputs.append(compiled(input_ids=ids, attention_mask=mask).last_hidden_state)
    return outputs


encode([*DTYPES, torch.bool, torch.int64])
