"""An online model whose vocabulary grows with the data.

more_calls = ["learn([16, 18, 40])"]

[[groups]]
kind = "size"
place = "parameter"
dim = 0
values = ["8", "10", "12", "14", "16"]
called_at = "vectors.append(embed(words))"
written_at = "table.weight = nn.Parameter(torch.randn(words_known, 4))"
recompiles = 4
calls = { total = 10, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(8, 4)
embed = torch.compile(lambda words: table(words).mean(0), backend="eager", dynamic=True)


def learn(vocabularies):
    vectors = []
    for words_known in vocabularies:
        table.weight = nn.Parameter(torch.randn(words_known, 4))
        for _ in range(2):
            words = torch.randint(0, words_known, (6,))
            vectors.append(embed(words))
    return vectors


learn([8, 10, 12, 14, 16])
