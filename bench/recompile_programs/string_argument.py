"""A translation model with one adapter per language.

more_calls = ["translate(['nl', 'de', 'sv'])"]

[[groups]]
kind = "str"
place = "argument"
name = "language"
values = ["de", "fr", "es", "it", "pt", "nl", "pl", "cs", "da"]
called_at = "outputs.append(adapt(sentence, language))"
bound_at = "for language in languages:"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 12, eager = 3, first = 9 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn

LANGUAGES = ["de", "fr", "es", "it", "pt", "nl", "pl", "cs", "da", "sv"]
torch.manual_seed(0)
adapters = nn.ModuleDict({name: nn.Linear(8, 8) for name in LANGUAGES}).requires_grad_(False)


@torch.compile(backend="eager")
def adapt(sentence, language):
    return sentence + adapters[language](sentence).relu()


def translate(languages):
    outputs = []
    for language in languages:
        sentence = torch.randn(5, 8)
        outputs.append(adapt(sentence, language))
    return outputs


translate([*LANGUAGES, "de", "da"])
