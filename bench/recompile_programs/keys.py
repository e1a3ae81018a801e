"""A recommender that gets only the features that a customer has.

more_calls = ["recommend([['age', 'zip'], ['zip'], ['age']])"]

[[groups]]
kind = "keys"
place = "argument"
name = "features"
values = ["*", "*", "*", "*", "*", "*", "*", "*", "*"]
called_at = "scores.append(score(features))"
bound_at = "features = {name: torch.randn(8) for name in names}"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 11, eager = 2, first = 9 }
bounded = false
remedy = "verified"
"""

import torch


@torch.compile(backend="eager")
def score(features):
    total = torch.zeros(8)
    for name, value in features.items():
        total = total + value * len(name)
    return total.sigmoid()


def recommend(customers):
    scores = []
    for names in customers:
        features = {name: torch.randn(8) for name in names}
        scores.append(score(features))
    return scores


torch.manual_seed(0)
NAMES = ["age", "city", "income", "device", "hour", "visits", "basket", "referrer", "plan"]
recommend([[first, second] for first, second in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)])
recommend([["age", "city"], ["plan", "age"]])
