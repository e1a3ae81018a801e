"""A part of the model went through `torch.jit.script` or came from `torch.jit.load`, and the model
around it is compiled. TorchScript runs it, not Python, so there is nothing to trace.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

with torch.random.fork_rng():
    projection = torch.nn.Linear(8, 8)
scripted_projection = torch.jit.script(projection)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.relu(scripted_projection(x))


@fix("rewrite", "exact")
def fixed(x):
    """The Python module is compiled in its place; where only an archive is left, make the module
    anew and `load_state_dict` the weights of the scripted one."""
    return torch.relu(projection(x))
