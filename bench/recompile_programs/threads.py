"""A service that gives larger requests more threads.

more_calls = ["serve([60, 500, 5])"]

[[groups]]
kind = "num_threads"
place = "torch"
values = ["1", "2", "3"]
called_at = "answers.append(summarize(rows))"
recompiles = 2
calls = { total = 7, eager = 0 }
remedy = "any"
"""

import torch

torch.manual_seed(0)
weights = torch.randn(8)


@torch.compile(backend="eager", dynamic=True)
def summarize(rows):
    return (rows * weights).mean(0)


def serve(sizes):
    answers = []
    for size in sizes:
        torch.set_num_threads(1 if size < 50 else 2 if size < 200 else 3)
        rows = torch.randn(size, 8)
        answers.append(summarize(rows))
    return answers


serve([10, 100, 400, 20, 30, 150, 300])
