"""`fullgraph.compile`: torch.compile with fixes in memory, or just torch.compile."""

from __future__ import annotations

import copy
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import fullgraph


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Packed(torch.nn.Module):
    """Sums the parts of a batch, whose lengths are an input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        parts = self.linear(x).split(lengths.tolist())
        total = parts[0].sum()
        for part in parts[1:]:
            total = total * 2 + part.sum()
        return total


def test_a_fixed_module_is_one_graph_and_right_for_other_values() -> None:
    model = Packed()
    compiled = fullgraph.compile(
        model, (torch.randn(6, 4), torch.tensor([1, 2, 3])), backend="eager"
    )
    x = torch.randn(6, 4)
    with fullgraph.watch() as session:
        for lengths in ([1, 2, 3], [2, 2, 2], [3, 3], [1, 2, 3]):
            expected = model(x, torch.tensor(lengths))
            assert torch.equal(compiled(x, torch.tensor(lengths)), expected)
    assert session.summary.sites == 0
    assert compiled.fullgraph_fix.summary.verified
    assert compiled.fullgraph_fix.fixes
    assert list(compiled.state_dict()) == [f"_orig_mod.{name}" for name in model.state_dict()]


def test_named_inputs_and_functions() -> None:
    def scaled(x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
        return x * x.max().item() * factor

    compiled = fullgraph.compile(scaled, {"x": torch.randn(4), "factor": 2.0}, backend="eager")
    with fullgraph.watch() as session:
        assert torch.equal(compiled(torch.ones(4), factor=3.0), torch.full((4,), 3.0))
    assert session.summary.sites == 0


def test_without_examples_it_warns_and_is_torch_compile() -> None:
    with pytest.warns(UserWarning, match="example_inputs"):
        compiled = fullgraph.compile(lambda x: x + 1, backend="eager")
    assert compiled(torch.ones(1)).item() == 2


def test_what_cannot_be_verified_is_not_fixed() -> None:
    def unsteady(x: torch.Tensor) -> torch.Tensor:
        return x * x.max().item() + time.perf_counter()

    with pytest.warns(UserWarning, match="not deterministic"):
        compiled = fullgraph.compile(unsteady, (torch.ones(2),), backend="eager")
    assert not hasattr(compiled, "fullgraph_fix")
    assert compiled(torch.ones(2)).shape == (2,)


def test_a_model_without_breaks_is_not_changed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = fullgraph.compile(lambda x: x + 1, (torch.ones(2),), backend="eager")
    assert compiled.fullgraph_fix.fixes == ()
    assert compiled(torch.ones(2)).tolist() == [2, 2]


def test_value_guards_can_be_turned_off() -> None:
    def rows(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        if mask.sum() > 1:
            x = x.relu_()
        return x + 1

    arguments = (torch.randn(4), torch.tensor([1, 1, 0, 0]))
    compiled = fullgraph.compile(rows, arguments, backend="eager", value_guards=False)
    assert all(fix.kind != "guard" for fix in compiled.fullgraph_fix.fixes)


def test_inputs_that_the_model_does_not_accept_are_named() -> None:
    model = torch.nn.Linear(4, 4)
    with pytest.warns(UserWarning, match="the model raises for example_inputs"):
        fullgraph.compile(model, (torch.randn(3, 7),), backend="eager")
    with pytest.warns(UserWarning, match="; pass a tuple, a list or a dict"):
        fullgraph.compile(model, torch.randn(2, 4), backend="eager")


def test_a_saved_model_does_not_need_fullgraph(tmp_path: Path) -> None:
    model = Packed()
    compiled = fullgraph.compile(
        model, (torch.randn(6, 4), torch.tensor([1, 2, 3])), backend="eager"
    )
    compiled(torch.randn(6, 4), torch.tensor([1, 2, 3]))
    assert compiled.fullgraph_fix.fixes
    assert not hasattr(model, "fullgraph_fix")
    for name, saved in (("model.pt", model), ("compiled.pt", compiled)):
        torch.save(saved, tmp_path / name)
    program = (
        "import sys, types\n"
        "sys.modules['fullgraph'] = None\n"
        "import torch\n"
        f"module = types.ModuleType({__name__!r})\n"
        "module.Packed = type('Packed', (torch.nn.Module,), {})\n"
        f"module.Packed.__module__ = {__name__!r}\n"
        f"sys.modules.update({{'tests': types.ModuleType('tests'), {__name__!r}: module}})\n"
        "for name in sys.argv[1:]:\n"
        "    print(type(torch.load(name, weights_only=False)).__name__)\n"
    )
    names = [str(tmp_path / name) for name in ("model.pt", "compiled.pt")]
    loaded = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=False
    )
    assert loaded.stdout.split() == ["Packed", "OptimizedModule"], loaded.stderr[-500:]


def test_a_copy_of_a_model_is_a_compiled_model() -> None:
    model = torch.nn.Linear(4, 4)
    compiled = fullgraph.compile(model, (torch.randn(2, 4),), backend="eager")
    copied = copy.deepcopy(compiled)
    assert type(copied) is type(compiled)
    assert copied(torch.randn(2, 4)).shape == (2, 4)
