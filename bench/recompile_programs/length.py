"""A memory of past states, in a list that grows with each step.

more_calls = ["roll_out(4)", "roll_out(13)"]

[[groups]]
kind = "length"
place = "argument"
name = "memory"
values = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
called_at = "state = advance(memory)"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 11, eager = 3, first = 9 }
bounded = false
remedy = "verified"
"""

import torch


@torch.compile(backend="eager")
def advance(memory):
    return torch.stack(memory).mean(0).tanh() + 0.1


def roll_out(steps):
    memory = [torch.randn(6)]
    for _ in range(steps):
        state = advance(memory)
        memory.append(state)
    return memory[-1]


torch.manual_seed(0)
roll_out(11)
