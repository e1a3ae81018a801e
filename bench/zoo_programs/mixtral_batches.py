"""Serve prompts in batches; their number and their length change together, dynamic=False."""

import torch
from _model import build_model

model, _ = build_model("MixtralForCausalLM")
compiled = torch.compile(model, backend="eager", dynamic=False)


@torch.no_grad()
def serve(batches):
    outputs = []
    for count, length in batches:
        ids = torch.randint(3, 200, (count, length))
        mask = torch.ones_like(ids)
        outputs.append(compiled(input_ids=ids, attention_mask=mask, use_cache=False).logits)
    return outputs


serve([(2, 16), (3, 12), (4, 10), (5, 9), (6, 8), (2, 16)])
