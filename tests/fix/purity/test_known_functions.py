"""The table of known functions."""

from __future__ import annotations

import pytest

from fullgraph.fix.purity.known_functions import (
    is_constant,
    is_known_pure,
    is_pure_method,
    nondeterminism_of,
    side_effect_of,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("print", "prints"),
        ("len", None),
        ("os.getcwd", "calls the operating system"),
        ("torch.save", "writes a file"),
        ("torch.set_default_dtype", "changes a setting of torch"),
        ("torch.sin", None),
        ("time.sleep", "waits"),
        ("time.time", None),
    ],
)
def test_the_side_effect_of_a_function(name: str, expected: str | None) -> None:
    assert side_effect_of(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.rand", "draws random numbers"),
        ("torch.native_dropout", "draws random numbers"),
        ("torch.nn.functional.rrelu", "draws random numbers"),
        ("torch.nn.functional.scaled_dot_product_attention", None),
        ("numpy.random.rand", "draws random numbers"),
        ("helpers.rand", None),
        ("time.time", "reads the clock"),
        ("torch.empty_like", "returns uninitialized memory"),
        ("torch.get_default_dtype", "depends on a setting of torch"),
        ("torch.is_tensor", None),
    ],
)
def test_the_nondeterminism_of_a_function(name: str, expected: str | None) -> None:
    assert nondeterminism_of(name) == expected


def test_pure_functions() -> None:
    for name in ("math.sqrt", "len", "ValueError", "ConnectionError", "torch.add"):
        assert is_known_pure(name)
    for name in ("helpers.f", "print", "unknown", "torch.relu_", "SomeError"):
        assert not is_known_pure(name)


def test_pure_methods() -> None:
    for name in ("sum", "split", "__add__", "items"):
        assert is_pure_method(name)
    for name in ("add_", "append", "normal_", "bernoulli", "cauchy_", "data_ptr", "backward",
                 "frobnicate"):  # fmt: skip
        assert not is_pure_method(name)


def test_constants_of_modules() -> None:
    assert is_constant("math.pi")
    assert not is_constant("torch.backends.cudnn.enabled")
    assert not is_constant("helpers.SETTING")
