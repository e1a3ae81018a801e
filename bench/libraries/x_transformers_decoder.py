"""Train and sample from a small decoder of x-transformers."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
model = AutoregressiveWrapper(
    TransformerWrapper(
        num_tokens=32,
        max_seq_len=16,
        attn_layers=Decoder(dim=16, depth=1, heads=2, rotary_pos_emb=True),
    )
)
loss_of = torch.compile(model, backend="eager")
tokens = torch.randint(0, 32, (2, 12))
loss = loss_of(tokens)
loss.backward()
generate = torch.compile(model.generate, backend="eager")
print(f"{loss.item():.3f}", tuple(generate(tokens[:, :4], 2, temperature=0.0).shape))
