"""The tables of operators say what the installed torch does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional

from fullgraph.fix.source import torch_ops

# Arguments of operators that need more than one tensor.
_ARGUMENTS: dict[str, tuple[object, ...]] = {
    "clamp": (-1.0, 1.0),
    "clamp_": (-1.0, 1.0),
    "clamp_max": (1.0,),
    "clamp_max_": (1.0,),
    "clamp_min": (-1.0,),
    "clamp_min_": (-1.0,),
    "clip": (-1.0, 1.0),
    "full_like": (2.0,),
    "layer_norm": ((3,),),
    "lerp_": (torch.ones(3), 0.5),
    "add_": (2.0,),
    "mul_": (2.0,),
    "sub_": (2.0,),
}
FINITE = (-700.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 700.0)
ODD = (*FINITE, float("inf"), float("-inf"), float("nan"))
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    """The variance of too few elements warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def operator(name: str) -> Callable[..., Any]:
    """Return the operator as a function of a tensor."""
    for owner in (torch.Tensor, torch, functional, torch.linalg):
        if hasattr(owner, name):
            found: Callable[..., Any] = getattr(owner, name)
            return found
    raise AssertionError(f"torch has no {name}")


def apply(name: str, tensor: torch.Tensor) -> Any:
    return operator(name)(tensor, *_ARGUMENTS.get(name, ()))


def gradient_of_zeros(name: str, value: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the result, and the gradient for a gradient of zeros."""
    tensor = torch.full((3,), value, dtype=torch.float64, requires_grad=True)
    result = apply(name, tensor)
    if not result.requires_grad:
        return result, torch.zeros_like(tensor)
    (gradient,) = torch.autograd.grad(
        result, tensor, torch.zeros_like(result), materialize_grads=True
    )
    return result, gradient


def tables() -> dict[str, frozenset[str]]:
    return {n: v for n, v in vars(torch_ops).items() if n.isupper() and isinstance(v, frozenset)}


def test_every_name_exists_in_torch() -> None:
    owners = (torch.Tensor, torch, functional, torch.linalg, torch.nn)
    names = frozenset().union(*tables().values(), torch_ops.SIZE_ARGUMENTS)
    missing = {name for name in names if not any(hasattr(owner, name) for owner in owners)}
    # Programs call their own constants `infinity`.
    assert missing - torch_ops.SIZE_KEYWORDS == {"infinity"}


@pytest.mark.parametrize("name", sorted(torch_ops.CHANGE_DTYPE))
def test_operators_that_change_the_dtype(name: str) -> None:
    tensor = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float16)
    arguments: dict[str, tuple[object, ...]] = {
        "bincount": (torch.tensor([1, 2]), torch.ones(2)),
        "bucketize": (tensor, tensor[0]),
        "complex": (tensor, tensor),
        "isin": (tensor, tensor),
        "searchsorted": (tensor[0], tensor),
        "to": (tensor, torch.int64),
        "type": (tensor, torch.int64),
        "type_as": (tensor, torch.tensor(1)),
    }
    assert operator(name)(*arguments.get(name, (tensor,))).dtype is not torch.float16 or (
        name == "half"
    )


@pytest.mark.parametrize("name", sorted(torch_ops.LINEAR))
def test_linear(name: str) -> None:
    for value in ODD:
        result, gradient = gradient_of_zeros(name, value)
        assert (result.shape, result.dtype) == ((3,), torch.float64)
        assert torch.equal(gradient, torch.zeros_like(gradient)), value


@pytest.mark.parametrize("name", sorted(torch_ops.SAFE_IF_FINITE))
def test_safe_if_finite(name: str) -> None:
    for value in FINITE:
        result, gradient = gradient_of_zeros(name, value)
        assert result.shape == (3,)
        assert result.is_floating_point()
        assert torch.equal(gradient, torch.zeros_like(gradient)), value


@pytest.mark.parametrize("name", sorted(torch_ops.UNBOUNDED_GRADIENT - {"tan"}))
def test_unbounded_gradient(name: str) -> None:
    """(The gradient of `tan` is large without bound, but no float is exactly pi / 2.)"""
    results = [gradient_of_zeros(name, value) for value in (*FINITE, 1e4)]
    assert any(not torch.cat([r.detach(), g]).isfinite().all() for r, g in results)


@pytest.mark.parametrize("name", sorted(torch_ops.BINARY))
def test_binary_operators_broadcast_and_promote(name: str) -> None:
    result = operator(name)(torch.ones(3, 1), torch.ones(2, dtype=torch.float64))
    assert (result.shape, result.dtype) == ((3, 2), torch.float64)


@pytest.mark.parametrize("name", sorted(torch_ops.COMPARISONS))
def test_comparisons_return_booleans_of_the_broadcast_shape(name: str) -> None:
    call = operator(name)
    try:
        result, shape = call(torch.ones(3, 1)), (3, 1)
    except TypeError:
        result, shape = call(torch.ones(3, 1), torch.ones(2)), (3, 2)
    assert (result.shape, result.dtype) == (shape, torch.bool)


def test_boolean_operators_return_booleans() -> None:
    assert torch.ones(2).bool().dtype is torch.bool
    assert torch.isin(torch.ones(2), torch.ones(1)).dtype is torch.bool
    assert {"bool", "isin"} == torch_ops.BOOLEAN - torch_ops.COMPARISONS
    for name in torch_ops.FINITENESS_TESTS:
        assert apply(name, torch.ones(2)).dtype is torch.bool


@pytest.mark.parametrize("name", sorted(torch_ops.CASTS))
def test_casts(name: str) -> None:
    result = apply(name, torch.ones(2, dtype=torch.int16))
    assert result.dtype is getattr(torch, name)
    assert result.is_floating_point() == (name in torch_ops.FLOAT_CASTS)


def test_float_dtypes() -> None:
    assert all(getattr(torch, name).is_floating_point for name in torch_ops.FLOAT_DTYPES)


@pytest.mark.parametrize("name", sorted(torch_ops.TAKE_SCALAR | torch_ops.FILLS))
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_tensor_without_dimensions_does_what_a_number_does(name: str, dtype: torch.dtype) -> None:
    def call(value: object) -> torch.Tensor:
        tensor = torch.tensor([1.0, -2.5, 3.0], dtype=dtype)
        mask = (tensor > 0,) if "mask" in name else ()
        result: torch.Tensor = operator(name)(tensor, *mask, value)
        return result

    number, tensor = call(1.5), call(torch.tensor(1.5, dtype=torch.float64))
    assert number.dtype is tensor.dtype is dtype
    assert torch.equal(number, tensor)


@pytest.mark.parametrize("name", sorted(torch_ops.FLOAT_ONLY))
def test_float_only_operators_raise_for_integers(name: str) -> None:
    apply(name, torch.ones(3))
    for dtype in _INTEGERS:
        with pytest.raises(RuntimeError):
            apply(name, torch.ones(3, dtype=dtype))


# Reductions


@pytest.mark.parametrize("name", sorted(torch_ops.FULL_REDUCTIONS))
def test_full_reductions_return_a_new_tensor_without_dimensions(name: str) -> None:
    for tensor in (torch.ones(2, 3), torch.ones(1), torch.tensor(1.0)):
        result = apply(name, tensor)
        assert result.shape == ()
        assert result.data_ptr() != tensor.data_ptr()


@pytest.mark.parametrize("name", sorted(torch_ops.REDUCTIONS - torch_ops.FULL_REDUCTIONS))
def test_the_other_reductions_need_a_dimension(name: str) -> None:
    with pytest.raises(TypeError):
        apply(name, torch.ones(2))
    assert operator(name)(torch.ones(2, 3), 0).shape == (3,)


@pytest.mark.parametrize("name", sorted(torch_ops.SAFE_REDUCTIONS))
def test_safe_reductions(name: str) -> None:
    apply(name, torch.ones(0))
    for value in ODD:
        _, gradient = gradient_of_zeros(name, value)
        assert torch.equal(gradient, torch.zeros_like(gradient)), value


@pytest.mark.parametrize("name", sorted(torch_ops.NEED_ELEMENTS))
def test_reductions_that_need_elements_raise_for_none(name: str) -> None:
    with pytest.raises((RuntimeError, IndexError)):
        apply(name, torch.ones(0))


@pytest.mark.parametrize("name", sorted(torch_ops.REDUCTIONS - torch_ops.NEED_ELEMENTS))
def test_the_other_reductions_work_for_no_elements(name: str) -> None:
    operator(name)(torch.ones(0), *((0,) if name == "logsumexp" else ()))


@pytest.mark.parametrize("name", sorted(torch_ops.RAISE_FOR_EMPTY_DIM))
def test_reductions_that_raise_for_an_empty_dimension(name: str) -> None:
    first = {"kthvalue": (1,), "topk": (1,), "quantile": (0.5,), "nanquantile": (0.5,)}
    with pytest.raises((RuntimeError, IndexError)):
        operator(name)(torch.ones(0, 3), *first.get(name, ()), dim=0)


@pytest.mark.parametrize("dtype", [torch.bool, *_INTEGERS, torch.float32])
def test_dtypes_of_reductions(dtype: torch.dtype) -> None:
    # torch has no `argmax` of booleans.
    tensor = torch.ones(3, dtype=dtype)
    names = torch_ops.INTEGER_REDUCTIONS if dtype is not torch.bool else {"count_nonzero"}
    assert all(apply(name, tensor).dtype is torch.int64 for name in names)
    booleans = {apply(name, tensor).dtype for name in torch_ops.BOOLEAN_REDUCTIONS}
    assert booleans == {torch.uint8 if dtype is torch.uint8 else torch.bool}
    if not dtype.is_floating_point:
        assert all(apply(name, tensor).dtype is torch.int64 for name in torch_ops.INTEGER_SUMS)


# New tensors and views


@pytest.mark.parametrize("name", sorted(torch_ops.SIZED_FACTORIES))
def test_factories_take_a_size_and_return_a_tensor(name: str) -> None:
    rest = (1.0,) if name == "full" else ()
    assert getattr(torch, name)((), *rest).shape == ()
    assert getattr(torch, name)((2, 3), *rest).shape == (2, 3)


def test_layout_methods_keep_the_elements_and_may_alias() -> None:
    arguments = {"permute": (1, 0), "reshape": (3, 2), "transpose": (0, 1), "view": (3, 2)}
    for name in torch_ops.LAYOUT:
        result = operator(name)(torch.ones(2, 3), *arguments.get(name, ()))
        assert result.numel() == 6
        assert name in torch_ops.MAY_ALIAS
        # A module of a model does not have a method of this name.
        assert not hasattr(torch.nn.Module, name)
        assert not hasattr(list, name)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bool])
def test_operators_that_are_not_in_may_alias_return_new_tensors(dtype: torch.dtype) -> None:
    tensor = torch.ones(3, dtype=dtype)
    names = torch_ops.LINEAR | torch_ops.SAFE_IF_FINITE | torch_ops.CASTS | torch_ops.BOOLEAN
    for name in names - torch_ops.MAY_ALIAS:
        try:
            result = apply(name, tensor)
        except (RuntimeError, TypeError):
            continue
        assert result.data_ptr() != tensor.data_ptr(), name


@pytest.mark.parametrize("name", sorted(torch_ops.IN_PLACE))
def test_in_place_methods_have_a_twin_that_returns_the_result(name: str) -> None:
    before = torch.tensor([-2.0, 0.5, 3.0])
    changed = before.clone()
    assert torch_ops.is_in_place(name)
    apply(name, changed)
    assert torch.equal(changed, operator(name[:-1])(before, *_ARGUMENTS.get(name, ())))


def test_row_updates_have_twins() -> None:
    assert {name[:-1] for name in torch_ops.ROW_UPDATES_IN_PLACE} == torch_ops.ROW_UPDATES
    for name in torch_ops.ROW_UPDATES:
        rows, values = torch.tensor([], dtype=torch.long), torch.ones(0, 3)
        assert torch.equal(operator(name)(torch.ones(2, 3), 0, rows, values), torch.ones(2, 3))


def test_attributes() -> None:
    tensor = torch.ones(2, 3)
    for name in torch_ops.METADATA_ATTRIBUTES:
        assert not isinstance(getattr(tensor, name), torch.Tensor)
    for name in torch_ops.SIZE_ATTRIBUTES:
        assert type(getattr(tensor, name)) is int
    for name in torch_ops.VIEW_ATTRIBUTES:
        assert getattr(tensor, name).numel() == 6


# Results that are not tensors


def test_methods_that_return_sizes() -> None:
    tensor = torch.ones(2, 3)
    for name in torch_ops.SIZE_METHODS:
        result = operator(name)(tensor, *((0,) if name in ("size", "stride") else ()))
        assert type(result) is int
        assert result >= 0


@pytest.mark.parametrize("name", sorted(torch_ops.METADATA_METHODS | torch_ops.READ_VALUES))
def test_methods_that_return_no_tensor(name: str) -> None:
    assert not isinstance(apply(name, torch.ones(1)), torch.Tensor)


def test_tuples_of_tensors() -> None:
    for name in torch_ops.TENSOR_TUPLES:
        result = operator(name)(torch.ones(4), *(() if name == "unbind" else (2,)))
        assert isinstance(result, tuple)
        assert all(isinstance(each, torch.Tensor) for each in result)


def test_tensors_have_what_hints_at_a_tensor() -> None:
    tensor = torch.ones(2)
    assert all(hasattr(tensor, name) for name in torch_ops.TENSOR_HINTS)


# Side effects


@pytest.mark.parametrize(
    "name", sorted(torch_ops.DROPOUTS - {"scaled_dot_product_attention", "native_dropout"})
)
def test_dropout_draws_nothing_for_no_elements(name: str) -> None:
    dimensions = {"dropout1d": 3, "dropout2d": 4, "dropout3d": 5}.get(name, 2)
    empty = torch.ones(0, *(3,) * (dimensions - 1))
    before = torch.get_rng_state()
    if hasattr(functional, name):
        getattr(functional, name)(empty, training=True)
    else:
        operator(name)(empty, 0.5, True)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bernoulli", (torch.full((9,), 0.5),)),
        ("binomial", (torch.full((9,), 5.0), torch.full((9,), 0.5))),
        ("gumbel_softmax", (torch.ones(9),)),
        ("multinomial", (torch.ones(9), 3)),
        ("normal", (torch.ones(9),)),
        ("poisson", (torch.ones(9),)),
        ("rand", (9,)),
        ("rand_like", (torch.ones(9),)),
        ("randint", (9, (9,))),
        ("randint_like", (torch.ones(9), 9)),
        ("randn", (9,)),
        ("randn_like", (torch.ones(9),)),
        ("randperm", (9,)),
        *((name, ()) for name in sorted(torch_ops.SAMPLERS) if torch_ops.is_in_place(name)),
    ],
)
def test_samplers_draw_random_numbers(name: str, arguments: tuple[object, ...]) -> None:
    assert name in torch_ops.SAMPLERS
    before = torch.get_rng_state()
    if torch_ops.is_in_place(name):
        operator(name)(torch.zeros(9), *((0.5,) if name == "geometric_" else ()))
    else:
        (getattr(torch, name, None) or getattr(functional, name))(*arguments)
    assert not torch.equal(before, torch.get_rng_state())


def test_grad_modes_are_context_managers() -> None:
    for name in torch_ops.GRAD_MODES:
        assert hasattr(getattr(torch, name), "__enter__")


# Modules


def test_modules_that_preserve_the_shape() -> None:
    arguments = {"LayerNorm": (4,), "RMSNorm": (4,), "GroupNorm": (2, 4)}
    assert torch_ops.SHAPE_PRESERVING_MODULES <= torch_ops.STATELESS_MODULES
    for name in torch_ops.SHAPE_PRESERVING_MODULES:
        module = getattr(torch.nn, name)(*arguments.get(name, ()))
        assert module(torch.ones(3, 4)).shape == (3, 4)


def test_stateless_modules_have_no_buffers() -> None:
    arguments: dict[str, tuple[int, ...]] = {
        "Linear": (4, 4),
        "Bilinear": (4, 4, 4),
        "Embedding": (4, 4),
        "LayerNorm": (4,),
        "RMSNorm": (4,),
        "GroupNorm": (2, 4),
    }
    for name in torch_ops.STATELESS_MODULES:
        given = (4, 4, 1) if "Conv" in name else arguments.get(name, ())
        assert not list(getattr(torch.nn, name)(*given).buffers()), name


def test_classes_of_tensors_exist() -> None:
    assert all(hasattr(torch, name) for name in torch_ops.TENSOR_CLASSES)
