"""ExecuTorch's `executorch_call_delegate` gets a wrapper around the lowered part of a model that is
not an `nn.Module`. Eager mode accepts it, but Dynamo must install it in the graph as a submodule.
"""

import torch
from torch._higher_order_ops import executorch_call_delegate

from fullgraph.catalog.fix_decorator import fix


class Program:
    """Stands in for the exported program of the lowered part."""

    def __init__(self, module):
        self._module = module

    def module(self):
        return self._module


class Delegate:
    def __init__(self, module):
        self.original_module = Program(module)


class DelegateModule(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.original_module = Program(module)


delegate = Delegate(torch.nn.ReLU())
delegate_module = DelegateModule(torch.nn.ReLU())


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return executorch_call_delegate(delegate, x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """As an `nn.Module`, like ExecuTorch's own LoweredBackendModule, the delegate can be installed
    in the graph.
    """
    return executorch_call_delegate(delegate_module, x) + 1
