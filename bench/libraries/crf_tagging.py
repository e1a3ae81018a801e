"""Train and decode a conditional random field of pytorch-crf."""

import torch
from torchcrf import CRF

torch.manual_seed(0)
field = CRF(4, batch_first=True)


@torch.compile(backend="eager")
def loss_of(emissions, tags, mask):
    return -field(emissions, tags, mask=mask)


@torch.compile(backend="eager")
def decode(emissions, mask):
    return field.decode(emissions, mask=mask)


emissions = torch.randn(2, 5, 4, requires_grad=True)
mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()
loss = loss_of(emissions, torch.randint(0, 4, (2, 5)), mask)
loss.backward()
print(f"{loss.item():.3f}", decode(emissions, mask))
