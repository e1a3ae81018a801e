"""The operator behind the backward of `flex_attention` is called directly with arguments that do
not match it.
"""

import torch

EAGER_RAISES = True
INSTEAD = (
    "Call torch.nn.attention.flex_attention.flex_attention and let autograd call its backward. The "
    "operator is not public, and its arguments change between releases."
)


def inputs():
    query, key, value = (torch.randn(1, 2, 16, 8) for _ in range(3))
    return query, key, value, torch.ones(1, 2, 16, 8)


def breaks(query, key, value, gradient):
    def score_mod(score, batch, head, query_index, key_index):
        return score * 2

    return torch.ops.higher_order.flex_attention_backward(query, key, value, gradient, score_mod)
