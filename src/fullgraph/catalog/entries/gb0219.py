"""A custom operator can be traced, but its backward calls a second operator that has no fake
kernel. Dynamo traces only the first. The backend fails on the second when it traces the backward.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# This backend traces the backward, as the default backend does.
COMPILE = {"backend": "aot_eager"}

library = torch.library.Library("fullgraph_catalog", "FRAGMENT")


def make_square(name, has_fake):
    """Return an operator with a separate operator for its backward, as a C++ extension defines
    them.
    """
    library.define(f"{name}_backward(Tensor x, Tensor grad) -> Tensor")
    library.impl(f"{name}_backward", lambda x, grad: 2 * x * grad, "CPU")
    if has_fake:
        torch.library.register_fake(
            f"fullgraph_catalog::{name}_backward", lambda x, grad: torch.empty_like(x)
        )
    backward = getattr(torch.ops.fullgraph_catalog, f"{name}_backward")

    @torch.library.custom_op(f"fullgraph_catalog::{name}", mutates_args=())
    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x

    square.register_fake(torch.empty_like)
    square.register_autograd(
        lambda ctx, grad: backward(*ctx.saved_tensors, grad),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    return square


square = make_square("gb0219", has_fake=False)
complete_square = make_square("gb0219_fixed", has_fake=True)


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return square(x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """`torch.library.register_fake` gives the backward operator a fake kernel as well."""
    return complete_square(x) + 1
