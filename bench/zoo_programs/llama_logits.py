"""Score the last tokens of a prompt; each request says how many of them it needs."""

import torch
from _model import build_model

model, _ = build_model("LlamaForCausalLM")
compiled = torch.compile(model, backend="eager", dynamic=False)


@torch.no_grad()
def score(requests):
    outputs = []
    for kept in requests:
        ids = torch.randint(3, 200, (1, 16))
        outputs.append(compiled(input_ids=ids, logits_to_keep=kept, use_cache=False).logits)
    return outputs


score([4, 2, 6, 3, 8, 5, 4])
