"""Properties of torch operators, by name: the only table of operator names for the fixers.

A name stands for the method of a tensor, for the function of `torch` and for the function of
`torch.nn.functional`. The comment above a table says what holds for each of its members.
`tests/fix/source/test_torch_ops.py` checks the tables against the installed torch.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a text: a table of names that is easy to read."""
    return frozenset(text.split())


def is_in_place(method: str) -> bool:
    """Check whether a method mutates its tensor, by its name: `add_`, but not `__len__`."""
    return method.endswith("_") and not method.endswith("__")


# Elementwise operators

# Keep shape and dtype. A gradient of zeros stays zeros for every input.
LINEAR = words(
    """abs ceil clamp clamp_max clamp_min clip clone contiguous detach floor hardtanh nan_to_num neg
    negative positive relu relu6 round sign trunc zeros_like ones_like full_like"""
)
# Keep the shape and return floating point. A gradient of zeros stays zeros for finite inputs.
SAFE_IF_FINITE = words(
    """cos erf gelu hardsigmoid hardswish leaky_relu logsigmoid mish sigmoid silu sin softplus
    softsign tanh"""
)
# Keep the shape and return floating point. Some finite input makes the result or the gradient
# infinite or NaN.
UNBOUNDED_GRADIENT = words(
    """acos acosh asin atanh cosh erfinv exp exp2 expm1 lgamma log log10 log1p log2 logit reciprocal
    rsqrt sinh sqrt tan"""
)
# Take two tensors, broadcast their shapes and promote their dtypes.
BINARY = words("add maximum minimum mul multiply sub subtract")
# The members of BINARY that multiply: the gradient of one factor is the other factor.
PRODUCTS = words("mul multiply")
# Return a boolean tensor with the broadcast shape of their arguments.
COMPARISONS = words(
    """eq ge greater greater_equal gt isclose isfinite isinf isnan isneginf isposinf le less
    less_equal logical_and logical_not logical_or logical_xor lt ne not_equal signbit"""
)
# Return a boolean tensor.
BOOLEAN = COMPARISONS | words("bool isin")
# Take one tensor and return a boolean tensor of its shape.
FINITENESS_TESTS = words("isfinite isinf isnan")
# Names that a program uses to test for infinity and NaN, or to create them.
FINITENESS = FINITENESS_TESTS | words("isneginf isposinf inf nan infinity nan_to_num")
# Return the tensor in another dtype. The method is also the name of the dtype, except for `long`.
FLOAT_CASTS = words("bfloat16 double float half")
INTEGER_CASTS = words("int long")
CASTS = FLOAT_CASTS | INTEGER_CASTS
# Names of floating dtypes, as in `torch.float32`.
FLOAT_DTYPES = FLOAT_CASTS | words("float16 float32 float64")
# Return another dtype than floating point for some tensor of floating point numbers.
CHANGE_DTYPE = CASTS | words(
    """argsort argwhere bincount bool bucketize byte char complex isin nonzero searchsorted short to
    type type_as view_as_complex"""
)
# Take a Python number or a 0-d tensor as their last argument, with the same result.
TAKE_SCALAR = words("add add_ div div_ masked_fill mul mul_ sub sub_")
# Set elements to a Python number or to a 0-d tensor, with the same result.
FILLS = words("fill_ masked_fill_")
# Raise for tensors of integers, unless they are given a dtype.
FLOAT_ONLY = words(
    """gelu hardsigmoid hardswish layer_norm leaky_relu logsigmoid mean mish norm silu softplus std
    var vector_norm"""
)

# Reductions

# Return a new 0-d tensor if they get no argument but the tensor.
FULL_REDUCTIONS = words(
    """all amax amin any argmax argmin count_nonzero max mean median min nanmean nansum norm prod
    std sum var"""
)
# Remove dimensions. The ones that are not in FULL_REDUCTIONS need to know which.
REDUCTIONS = FULL_REDUCTIONS | words("logsumexp")
# Work for empty tensors, and a gradient of zeros stays zeros.
SAFE_REDUCTIONS = words("all any count_nonzero mean nansum sum")
# Raise for an empty tensor and have no other risk.
NEED_ELEMENTS = words("amax amin argmax argmin max min")
# Raise if the dimension that they reduce or select from is empty.
RAISE_FOR_EMPTY_DIM = NEED_ELEMENTS | words(
    "aminmax kthvalue median mode nanmedian nanquantile quantile topk"
)
# Return booleans (uint8 for a tensor of uint8).
BOOLEAN_REDUCTIONS = words("all any")
# Return int64 for every dtype.
INTEGER_REDUCTIONS = words("argmax argmin count_nonzero")
# Return int64 for every dtype of integers and for booleans.
INTEGER_SUMS = words("nansum prod sum")

# New tensors and views

# Return a new tensor of a given size or with given values.
FACTORIES = words("empty full ones rand randn tensor zeros")
# Take the size as their first argument.
SIZED_FACTORIES = FACTORIES - words("tensor")
# Return a tensor with values that nothing has set.
UNINITIALIZED = words("empty empty_like empty_strided new_empty")
# Return the elements of a tensor in another layout. Classes of a model do not have these methods.
LAYOUT = words("contiguous permute reshape t transpose view")
# May return a tensor that shares memory with their input.
MAY_ALIAS = words(
    """adjoint as_tensor asarray atleast_1d atleast_2d atleast_3d bfloat16 bool broadcast_tensors
    broadcast_to cartesian_prod chunk conj conj_physical contiguous cpu cuda detach diagonal double
    dropout expand expand_as flatten float half hsplit imag int long meshgrid moveaxis movedim
    narrow permute positive ravel real reshape reshape_as resolve_conj resolve_neg select split
    squeeze sum_to_size swapaxes swapdims t tensor_split to to_dense transpose type type_as unbind
    unflatten unfold unsafe_chunk unsafe_split unsqueeze view view_as view_as_real vsplit"""
)
# Attributes that are a tensor of the same elements.
VIEW_ATTRIBUTES = words("T data mT")
# Attributes that are a tensor of another dtype, without gradient, or that other code may mutate.
OTHER_TENSOR_ATTRIBUTES = words("data grad imag real")
# In-place methods of the same name as an operator that returns the result instead.
IN_PLACE = words("add_ clamp_ clamp_max_ clamp_min_ lerp_ mul_ neg_ sub_")
# Add to rows or copy rows of a tensor in place, or return the result.
ROW_UPDATES_IN_PLACE = words("index_add_ index_copy_")
ROW_UPDATES = words("index_add index_copy")

# Results that are not tensors

# Attributes of a tensor that are not tensors.
METADATA_ATTRIBUTES = words("device dtype is_cuda itemsize ndim requires_grad shape")
# The attributes among them that are Python integers.
SIZE_ATTRIBUTES = words("itemsize ndim")
# Return a Python integer that is not negative. `size` and `stride` do so if they get a dimension.
SIZE_METHODS = words("dim element_size nelement numel size stride")
# Return a Python value that does not depend on the elements.
METADATA_METHODS = SIZE_METHODS | words(
    "is_complex is_contiguous is_floating_point is_tensor storage_offset"
)
# Return the elements as a Python number, as lists or as an array.
READ_VALUES = words("item numpy tolist")
# The members of READ_VALUES that return Python objects.
READ_AS_PYTHON = READ_VALUES - words("numpy")
# Return a tuple of tensors.
TENSOR_TUPLES = words("chunk split tensor_split unbind")
# Functions of `torch` and methods of tensors that return another object than tensors.
OTHER_RESULTS = words(
    """Generator Size allclose are_deterministic_algorithms_enabled broadcast_shapes can_cast
    data_ptr device dtype equal finfo get_default_device get_default_dtype get_num_threads iinfo
    initial_seed is_autocast_enabled is_grad_enabled is_inference_mode_enabled is_nonzero
    manual_seed promote_types result_type seed typename"""
)
NOT_TENSORS = METADATA_METHODS | READ_VALUES | TENSOR_TUPLES | OTHER_RESULTS
# Attributes and methods of tensors. A name that has one of them is most likely a tensor.
TENSOR_HINTS = words(
    """abs all amax amin any argmax argmin argsort bool clamp clone contiguous cumsum detach device
    dtype eq exp expand flatten float half item log long masked_fill max mean min ne nonzero norm
    numel permute prod reshape shape sigmoid softmax sqrt square squeeze std sum to tolist transpose
    unsqueeze var view"""
)

# Arguments

# From an operator to the positional arguments that are sizes, positions or counts, as a slice.
SIZE_ARGUMENTS: dict[str, slice] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn", "arange", "eye"), slice(None)),
    **dict.fromkeys(("view", "reshape", "expand", "repeat", "tile"), slice(None)),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty"), slice(None)),
    **dict.fromkeys(("full", "new_full", "topk"), slice(0, 1)),
    **dict.fromkeys(("pad", "unflatten", "interpolate"), slice(1, 2)),
    "narrow": slice(1, None),
}
# Keyword arguments that are sizes, positions or counts.
SIZE_KEYWORDS = words("end k length pad size start")

# Side effects

# Draw random numbers for each element of their input, so none for an empty input.
DROPOUTS = words(
    """alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout feature_dropout
    native_dropout rrelu scaled_dot_product_attention"""
)
# Draw random numbers.
SAMPLERS = words(
    """bernoulli bernoulli_ binomial cauchy_ exponential_ geometric_ gumbel_softmax log_normal_
    multinomial normal normal_ poisson rand rand_like randint randint_like randn randn_like random_
    randperm uniform_"""
)
RANDOM = DROPOUTS | SAMPLERS
# Change how or whether gradients are computed.
AUTOGRAD_EFFECTS = words("backward register_hook requires_grad_ retain_grad")
# Context managers that only change whether gradients are recorded.
GRAD_MODES = words("enable_grad inference_mode no_grad set_grad_enabled")

# Modules of `torch.nn`

# Draw no random numbers, keep no state and return floating point.
STATELESS_MODULES = words(
    """Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
    LayerNorm RMSNorm GroupNorm Embedding ReLU GELU SiLU Tanh Sigmoid Softmax LogSoftmax ELU SELU
    LeakyReLU Mish Hardswish Softplus"""
)
# Return a tensor of the shape of the input.
SHAPE_PRESERVING_MODULES = words(
    "LayerNorm RMSNorm GroupNorm ReLU GELU SiLU Tanh Sigmoid ELU SELU Mish"
)
# Are not called, or do not return a tensor.
MODULES_WITHOUT_TENSOR_RESULT = words(
    """AdaptiveLogSoftmaxWithLoss Buffer GRU LSTM LSTMCell Module ModuleDict ModuleList
    MultiheadAttention Parameter ParameterDict ParameterList RNN"""
)
# Classes in annotations of tensors, and the floating ones among them.
FLOAT_TENSOR_CLASSES = words("BFloat16Tensor DoubleTensor FloatTensor HalfTensor")
TENSOR_CLASSES = FLOAT_TENSOR_CLASSES | words("BoolTensor LongTensor Tensor")
