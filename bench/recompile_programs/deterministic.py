"""Training whose validation runs with deterministic algorithms.

more_calls = ["run([True, False])"]

[[groups]]
kind = "deterministic"
place = "torch"
values = ["False", "True"]
called_at = "totals.append(count_words(words))"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch


@torch.compile(backend="eager")
def count_words(words):
    return torch.zeros(10).index_add(0, words, torch.ones(words.shape[0]))


def run(validations):
    totals = []
    for validation in validations:
        torch.use_deterministic_algorithms(validation)
        words = torch.randint(0, 10, (20,))
        totals.append(count_words(words))
    torch.use_deterministic_algorithms(False)
    return totals


torch.manual_seed(0)
run([False, False, True, False, False, True])
