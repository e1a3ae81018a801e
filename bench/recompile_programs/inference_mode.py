"""A service with two endpoints: one uses inference_mode, the other no_grad.

more_calls = ["serve(['search', 'rank', 'rank'])"]

[[groups]]
kind = "inference_mode"
place = ["torch", "argument"]
values = ["True", "False"]
called_at = "return score(query)"
recompiles = 1
calls = { total = 6, eager = 0 }
remedy = "any"
"""

import torch

torch.manual_seed(0)
documents = torch.randn(20, 8)


@torch.compile(backend="eager")
def score(query):
    return (documents @ query).softmax(0)


def answer(query):
    return score(query)


def serve(endpoints):
    answers = []
    for endpoint in endpoints:
        if endpoint == "search":
            with torch.inference_mode():
                answers.append(answer(torch.randn(8)))
        else:
            with torch.no_grad():
                answers.append(answer(torch.randn(8)))
    return [each.clone() for each in answers]


serve(["search", "rank", "search", "rank", "search", "rank"])
