"""A service that compiles in each request, with a backend that it makes there.

more_calls = ["serve(3)"]

[[groups]]
kind = "backend"
place = "torch"
values = ["*", "*", "*", "*", "*", "*"]
called_at = "return model(query)"
recompiles = 5
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch

torch.manual_seed(0)
weights = torch.randn(8, 4)
compiled_graphs = []


def rank(query):
    return (query @ weights).softmax(-1)


def handle(query):
    def backend(graph, example_inputs):
        compiled_graphs.append(graph)
        return graph.forward

    model = torch.compile(rank, backend=backend)
    return model(query)


def serve(requests):
    answers = []
    for _ in range(requests):
        query = torch.randn(2, 8)
        answers.append(handle(query))
    return answers


serve(6)
