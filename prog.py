import torch

SCALE = 2.0


def f(x):
    return x * SCALE


compiled = torch.compile(f, backend="eager")
compiled(torch.ones(2))
open("went-on", "w").close()
