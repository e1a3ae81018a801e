"""A part of the model comes from `torch.jit.script` or `torch.jit.load`, and the model around it is
compiled. TorchScript runs this part, so there is no Python code to trace.
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
    """The Python module is compiled instead. If only an archive is available, create the module and
    load the weights of the scripted module with `load_state_dict`.
    """
    return torch.relu(projection(x))
