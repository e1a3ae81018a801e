"""`torch.library.wrap_triton` gets more than the kernel, for example the grid, which belongs in the
brackets of the launch.
"""

import torch

EAGER_RAISES = True
INSTEAD = (
    "wrap_triton takes only the kernel: wrap_triton(kernel)[grid](...). A compiled function can "
    "also launch a kernel directly, without wrap_triton."
)


# Stands in for a function with @triton.jit.
def copy_kernel(source, target, block):
    pass


def inputs():
    return torch.randn(64)


def breaks(x):
    out = torch.empty_like(x)
    torch.library.wrap_triton(copy_kernel, (1,))(x, out, 64)
    return out
