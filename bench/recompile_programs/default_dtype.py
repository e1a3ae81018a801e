"""A solver whose reference solution is computed with float64 as the default.

more_calls = ["solve([torch.float64, torch.float32])"]

[[groups]]
kind = "default_dtype"
place = "torch"
values = ["float32", "float64"]
called_at = "solutions.append(relax(grid))"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch

torch.manual_seed(0)
grid = torch.rand(8, 8)


@torch.compile(backend="eager")
def relax(grid):
    source = torch.ones(8, 8)
    return grid + 0.25 * (grid.roll(1, 0) + grid.roll(1, 1) - 2 * grid) + 0.01 * source


def solve(dtypes):
    solutions = []
    for dtype in dtypes:
        torch.set_default_dtype(dtype)
        solutions.append(relax(grid))
    torch.set_default_dtype(torch.float32)
    return solutions


solve([torch.float32, torch.float32, torch.float64] * 2)
