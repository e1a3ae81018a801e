"""A service that batches requests; now and then there is only one request.

more_calls = ["serve([1, 9, 2, 1, 64])"]

[[groups]]
kind = "size"
place = "argument"
name = "requests"
dim = 0
values = ["6", "1", "4"]
called_at = "answers.append(answer(requests))"
bound_at = "requests = torch.randn(count, 8)"
recompiles = 2
calls = { total = 8, eager = 0 }
remedy = "verified"
"""

import torch

torch.manual_seed(0)
weights = torch.randn(8, 3)


@torch.compile(backend="eager")
def answer(requests):
    return (requests @ weights).softmax(-1)


def serve(counts):
    answers = []
    for count in counts:
        requests = torch.randn(count, 8)
        answers.append(answer(requests))
    return answers


serve([6, 1, 4, 5, 1, 3, 7, 1])
