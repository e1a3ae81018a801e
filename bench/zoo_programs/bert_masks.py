"""Encode batches that are padded to their longest text; a batch without padding has no mask."""

import torch
from _model import build_model

model, _ = build_model("BertModel")
compiled = torch.compile(model, backend="eager", dynamic=False)


@torch.no_grad()
def encode(batches):
    outputs = []
    for lengths in batches:
        longest = max(lengths)
        ids = torch.randint(3, 200, (len(lengths), longest))
        mask = None
        if min(lengths) < longest:
            mask = torch.arange(longest) < torch.tensor(lengths)[:, None]
        outputs.append(compiled(input_ids=ids, attention_mask=mask).last_hidden_state)
    return outputs


encode([(12, 9), (7, 5), (10, 10), (15, 4), (6, 6), (11, 8), (12, 9)])
