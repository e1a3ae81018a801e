"""The compiled function defines a class for its results and returns an instance. The code after the
graph has no source for that class.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# Without this setting the definition itself breaks.
CONFIG = {"enable_trace_load_build_class": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    class Output:
        def __eq__(self, other):
            return torch.equal(self.hidden, other.hidden)

    output = Output()
    output.hidden = torch.relu(x)
    return output


class Output:
    def __eq__(self, other):
        return torch.equal(self.hidden, other.hidden)


@fix("rewrite", "exact")
def fixed(x):
    """The class is defined at module level, where the code after the graph finds it by name."""
    output = Output()
    output.hidden = torch.relu(x)
    return output
