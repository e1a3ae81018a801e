"""A class is defined inside the compiled function to hold its results, and an object of it is
returned. The code after the graph has nowhere to find that class.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# By default the definition itself breaks already.
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
    """Defined at the top of the module, the class is found by its name."""
    output = Output()
    output.hidden = torch.relu(x)
    return output
