"""What is known of operators: which may be computed though nobody asks for the result.

The names are those of methods of tensors, of `torch` and of `torch.nn.functional`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The same shape and type, and a gradient of zeros stays zeros whatever the input is.
LINEAR = _words(
    """abs ceil clamp clamp_max clamp_min clip clone contiguous detach floor hardtanh nan_to_num neg
    negative positive relu relu6 round sign trunc zeros_like ones_like full_like"""
)
# Some of them may be a tensor that exists already.
MAY_ALIAS = _words(
    """chunk contiguous cpu cuda detach diagonal expand expand_as flatten float half double movedim
    narrow permute real reshape select split squeeze swapaxes t to transpose type type_as unbind
    unflatten unfold unsqueeze view view_as"""
)
# The same shape, floating; where the input is infinite or not a number, so is the gradient.
SMOOTH = _words(
    """cos erf gelu hardsigmoid hardswish leaky_relu logsigmoid mish sigmoid silu sin softplus
    softsign tanh"""
)
# The same shape, floating; they may make what is not a number, or gradients that are none.
STEEP = _words(
    """acos acosh asin atanh cosh erfinv exp exp2 expm1 lgamma log log10 log1p log2 logit reciprocal
    rsqrt sinh sqrt tan"""
)
# Of two tensors.
PAIRS = _words("add maximum minimum mul multiply sub subtract")
COMPARISONS = _words(
    """eq equal ge greater greater_equal gt isclose isfinite isin isinf isnan isneginf isposinf le
    less less_equal logical_and logical_not logical_or logical_xor lt ne not_equal signbit"""
)
# Without arguments they leave nothing of the shape.
REDUCTIONS = _words(
    """all amax amin any argmax argmin count_nonzero logsumexp max mean median min nanmean nansum
    norm prod std sum var"""
)
# Of those, the ones that work for empty tensors and have harmless gradients.
SAFE_REDUCTIONS = _words("all any count_nonzero mean nansum sum")
# Of those, the ones that only raise for empty tensors.
NEED_ELEMENTS = _words("amax amin argmax argmin max min")
TRUTHS = _words("all any")
# They raise for whole numbers, so what they are given is floating.
FLOAT_ONLY = _words(
    """gelu hardsigmoid hardswish layer_norm leaky_relu logsigmoid mean mish norm silu softplus std
    var vector_norm"""
)
# What they give is no tensor.
PLAIN = _words(
    """dim element_size is_complex is_contiguous is_floating_point is_tensor item nelement numel
    size storage_offset stride tolist"""
)
FINITENESS = _words("isnan isinf isfinite isneginf isposinf inf nan infinity nan_to_num")
RANDOM = _words(
    """alpha_dropout bernoulli bernoulli_ dropout dropout1d dropout2d dropout3d exponential_
    feature_alpha_dropout feature_dropout gumbel_softmax multinomial normal normal_ poisson rand
    rand_like randint randint_like randn randn_like random_ randperm rrelu uniform_
    scaled_dot_product_attention"""
)

# Modules that draw no numbers, keep nothing and give floating numbers.
STEADY_MODULES = _words(
    """Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
    LayerNorm RMSNorm GroupNorm Embedding ReLU GELU SiLU Tanh Sigmoid Softmax LogSoftmax ELU SELU
    LeakyReLU Mish Hardswish Softplus"""
)
# Modules whose output has the shape of the input.
SHAPELESS = _words("LayerNorm RMSNorm GroupNorm ReLU GELU SiLU Tanh Sigmoid ELU SELU Mish")
