"""Update metrics of torchmetrics inside a compiled evaluation step."""

import torch
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassConfusionMatrix

torch.manual_seed(0)
model = torch.nn.Linear(6, 3)
metrics = MetricCollection(
    {"accuracy": MulticlassAccuracy(3), "confusion": MulticlassConfusionMatrix(3)}
)


@torch.compile(backend="eager")
def evaluate(inputs, targets):
    logits = model(inputs)
    metrics.update(logits, targets)
    return logits.softmax(-1)


for size in (8, 5):
    evaluate(torch.randn(size, 6), torch.randint(0, 3, (size,)))
print({name: value.tolist() for name, value in metrics.compute().items()})
