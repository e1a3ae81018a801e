"""Train with the Lion optimizer and an average of the weights; the step is compiled."""

import torch
from ema_pytorch import EMA
from lion_pytorch import Lion

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
average = EMA(model, beta=0.9, update_after_step=0, update_every=1)
optimizer = Lion(model.parameters(), lr=1e-2)


@torch.compile(backend="eager")
def step(inputs):
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update()
    return loss


for _ in range(3):
    loss = step(torch.randn(8, 4))
print(f"{loss.item():.4f} {average(torch.ones(1, 4)).sum().item():.4f}")
