"""A metric that is given single values, series and batches of series.

more_calls = ["evaluate([(3,), (2, 2), ()])"]

[[groups]]
kind = "rank"
place = "argument"
name = ["predictions", "targets"]
values = ["1", "2", "3"]
called_at = "errors.append(metric(predictions, targets))"
bound_at = ["predictions = torch.randn(shape)", "targets = torch.randn(shape)"]
recompiles = 2
calls = { total = 7, eager = 0 }
remedy = "any"
"""

import torch


@torch.compile(backend="eager")
def metric(predictions, targets):
    difference = predictions - targets
    return (difference.square() / (1 + targets.abs())).mean()


def evaluate(shapes):
    errors = []
    for shape in shapes:
        predictions = torch.randn(shape)
        targets = torch.randn(shape)
        errors.append(metric(predictions, targets))
    return errors


torch.manual_seed(0)
evaluate([(8,), (4, 8), (2, 4, 8), (4, 8), (8,), (2, 4, 8), (4, 8)])
