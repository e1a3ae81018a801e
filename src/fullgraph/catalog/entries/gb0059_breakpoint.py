"""A forward contains `breakpoint()`, left over from debugging. A debugger stops Python, and a graph
has no Python to stop.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

TITLE = "`breakpoint`"


def inputs():
    # A debugger that does not wait for a person; an import would be shown with the example.
    __import__("sys").breakpointhook = lambda *args, **kwargs: None
    return torch.randn(4, 8)


def breaks(x):
    hidden = x.relu()
    breakpoint()
    return hidden.softmax(dim=-1)


@fix("rewrite", "exact")
def fixed(x):
    """The debugger starts only in eager mode: call the function without torch.compile, or with
    torch.compiler.set_stance("force_eager"), to stop there.
    """
    hidden = x.relu()
    if not torch.compiler.is_compiling():
        breakpoint()
    return hidden.softmax(dim=-1)
