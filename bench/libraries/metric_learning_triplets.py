"""Mine triplets with pytorch-metric-learning and train an embedding for one step."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner

torch.manual_seed(0)
trunk = torch.nn.Linear(6, 4)
miner = MultiSimilarityMiner()
criterion = TripletMarginLoss(margin=0.2)


@torch.compile(backend="eager")
def loss_of(images, labels):
    embeddings = trunk(images)
    return criterion(embeddings, labels, miner(embeddings, labels))


loss = loss_of(torch.randn(12, 6), torch.arange(12) % 3)
loss.backward()
print(f"{loss.item():.4f}")
