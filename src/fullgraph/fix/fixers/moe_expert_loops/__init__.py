"""A loop over the experts that got tokens becomes a loop over all experts.

`for expert in mask.nonzero(): ...` has as many turns as the data says, and so has a loop that skips
experts without tokens with `if rows.numel() == 0: continue`: Python has to know a number or a truth
that only the data has. Over all experts the number of turns is a constant, and `torch.where(mask)`
and what is selected with it get a symbol for their size (`capture_dynamic_output_shape_ops`). An
expert without tokens then works on no rows and adds nothing.

The same operators run on the same rows in the same order, so it is exact. It is left alone where
the body does anything but compute and add rows to a result: counters, prints, random numbers, names
that live on after the loop, reductions that raise for no rows. How many experts there are is taken
from `one_hot`; where that has one class more than there are experts and the loop does not pass over
it, a check is added that raises (`RuntimeError` instead of `IndexError`) if a token chose it. Where
each expert has parameters of its own, one without tokens gets no gradient, which an optimizer can
tell from a gradient of zero: there the skipping stays for as long as gradients are recorded, and
only runs without them have no break. The same goes for a class that is passed over, which may have
taken all tokens. (For a batch of no tokens at all the gradient is zero where there was none.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers.moe_expert_loops.loop import hits_of
from fullgraph.fix.fixers.moe_expert_loops.rewrite import over_all, without_skipping
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import function_at, patched, tree_of

TITLE = "loop over the experts that were hit → over all experts"
KIND = "rewrite"
SAFETY = "exact"

_SETTINGS = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}


def candidates(spot: Spot) -> Iterator[Candidate]:
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    for loop in [node for node in ast.walk(function) if isinstance(node, ast.For)]:
        hits = hits_of(spot.text, function, loop)
        first = (hits.found_by if hits and hits.found_by else loop).lineno
        if not first <= spot.cause.line <= (loop.end_lineno or 0):
            continue
        text = over_all(spot.text, tree, function, hits) if hits else None
        text = text or without_skipping(spot.text, tree, function, loop)
        if text:
            yield Candidate(
                "moe_expert_loops",
                TITLE,
                "rewrite",
                "exact",
                file=patched(spot, text, "import torch"),
                settings=_SETTINGS,
            )


CHANGES = {
    "stacked weights and one class too many": """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_experts = 4
        self.up = nn.Parameter(torch.randn(4 * 6, 8))
        self.down = nn.Parameter(torch.randn(4, 6, 8))

    def forward(self, x, index, weights):
        out = torch.zeros_like(x)
        with torch.no_grad():
            mask = nn.functional.one_hot(index, num_classes=self.num_experts + 1)
            mask = mask.permute(2, 1, 0)
            hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()

        for expert in hit:
            expert = expert[0]
            with torch.no_grad():
                place, token = torch.where(mask[expert])
            up = self.up.view(-1, 6, 8)[expert]
            states = nn.functional.silu(x[token] @ up.T) @ self.down[expert]
            out.index_add_(0, token, states * weights[token, place, None])
        return out

f = Experts()

def inputs():
    index = torch.tensor([[0, 1], [1, 0], [3, 1], [0, 3], [1, 3]])
    return torch.randn(5, 8), index, torch.rand(5, 2)

def more():
    yield torch.randn(3, 8), torch.tensor([[2, 1], [2, 1], [2, 1]]), torch.rand(3, 2)
""",
    "a class for what is masked out": """
import torch
import torch.nn.functional as F
from torch import nn

GRADIENTS = False

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 3
        self.weight = nn.Parameter(torch.randn(3, 8, 8))

    def forward(self, x, index):
        out = torch.zeros_like(x)
        mask = F.one_hot(index, num_classes=self.count + 1).permute(2, 1, 0)
        for expert in (mask.sum(dim=(-1, -2)) > 0).nonzero():
            # a tensor of one element
            expert = expert[0]
            if expert == self.count:
                continue
            _, token = torch.where(mask[expert])
            out.index_add_(0, token, F.linear(x[token], self.weight[expert]))
        return out

f = Experts()

def inputs():
    return torch.randn(4, 8), torch.tensor([[0, 3], [1, 3], [1, 0], [3, 3]])
""",
    "modules, without gradients": """
import torch
from torch import nn

GRADIENTS = False

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_experts = 3
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, index, weights):
        out = torch.zeros_like(x)
        mask = torch.nn.functional.one_hot(index, num_classes=self.num_experts).permute(2, 1, 0)
        hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert in hit:
            layer = self.experts[expert]
            place, token = torch.where(mask[expert].squeeze(0))
            current = x[None, token].reshape(-1, 8)
            out.index_add_(0, token, layer(current) * weights[token, place, None])
        return out

f = Experts()

def inputs():
    return torch.randn(4, 8), torch.tensor([[0, 2], [2, 0], [0, 2], [2, 0]]), torch.rand(4, 2)
""",
    "experts without tokens are skipped": """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 8, 8))

    def forward(self, x, index):
        out = torch.zeros_like(x)
        for expert in range(3):
            place, token = torch.where(index == expert)
            if place.numel() == 0:
                continue
            out.index_add_(0, place, x[place] @ self.weight[expert])
        return out

f = Experts()

def inputs():
    return torch.randn(4, 8), torch.tensor([[0, 2], [2, 0], [0, 2], [2, 0]])
""",
    "only where the mask has something": """
import torch
from torch import nn

GRADIENTS = False

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, choice):
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            chosen = choice == number
            if chosen.any():
                out[chosen] = expert(x[chosen])
        return out

f = Experts()

def inputs():
    return torch.randn(5, 8), torch.tensor([0, 2, 2, 0, 0])
""",
}

_LOOP = """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_experts = 4
        self.used = 0
        self.weight = nn.Parameter(torch.randn(4, 8, 8))
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def counted(self, states):
        self.used = self.used + 1
        return states

    def forward(self, x, index):
        out = torch.zeros_like(x)
        last = noise = 0
        mask = nn.functional.one_hot(index, num_classes=self.num_experts).permute(2, 1, 0)
        hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert in hit:
            expert = expert[0]
            place, token = torch.where(mask[expert])
            {body}
            out.index_add_(0, token, states)
        return out + last

f = Experts()

def inputs():
    return torch.randn(3, 8), torch.tensor([[0, 1], [1, 0], [3, 1]])
"""


def _with_body(*lines: str) -> str:
    return _LOOP.replace("{body}", ("\n" + " " * 12).join(lines))


_STATES = "states = x[token] @ self.weight[expert]"
REFUSES = {
    "experts that were used are counted": _with_body(_STATES, "self.used += 1"),
    "a method counts the experts": _with_body(_STATES, "states = self.counted(states)"),
    "a maximum of no rows": _with_body(_STATES, "states = states / states.abs().max(dim=0).values"),
    "a value lives on after the loop": _with_body(_STATES, "last = self.weight[expert].sum()"),
    "a value is carried from turn to turn": _with_body(
        _STATES, "states = states + noise", "noise = self.weight[expert].sum()"
    ),
    "random numbers for each expert": _with_body(_STATES, "states = states * torch.rand(1)"),
    "every expert prints": _with_body(_STATES, "print('an expert')"),
    "a share of the rows": _with_body(_STATES, "states = states * (1 / token.numel())"),
    "rows that are not counted": _with_body(
        "states = x[token] @ self.weight[expert]", "states = states.view(token.shape[0], -1)"
    ),
    "an expert without tokens has no gradient": """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, choice):
        out = torch.zeros_like(x)
        for number in range(3):
            rows = torch.where(choice == number)[0]
            if rows.shape[0] == 0:
                continue
            out.index_add_(0, rows, self.experts[number](x[rows]))
        return out

f = Experts()

def inputs():
    return torch.randn(5, 8), torch.tensor([0, 2, 2, 0, 0])
""",
    "a mask with weights of both signs": """
import torch

def f(x, mask, weight):
    out = torch.zeros_like(x)
    for expert in (mask.sum(dim=(-1, -2)) > 0).nonzero():
        expert = expert[0]
        place, token = torch.where(mask[expert])
        out.index_add_(0, token, x[token] @ weight[expert])
    return out

def inputs():
    mask = torch.tensor([[[1, -1, 0]], [[0, 1, 1]]])
    return torch.randn(3, 8), mask, torch.randn(2, 8, 8)
""",
}
