"""`torch.library.wrap_triton` is called with more than the kernel, such as the grid, which belongs
into the brackets of the launch.
"""

import torch

EAGER_RAISES = True
INSTEAD = (
    "wrap_triton takes the kernel and nothing else: wrap_triton(kernel)[grid](...). Inside a "
    "compiled function a kernel can also be launched directly, without wrap_triton."
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
