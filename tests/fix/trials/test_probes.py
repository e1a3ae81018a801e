"""Probes: each changes one property of a recorded call, and a difference names an assumption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.model import FailedProbe, FixPlan, TrialRequest
from fullgraph.fix.record.recorder import CallContext, CallRecorder, CompiledTarget, RecordedCall
from fullgraph.fix.source.edits import FileEdits, insert_lines
from fullgraph.fix.trials.judge import judge
from fullgraph.fix.trials.probes import Probe, probes_of
from fullgraph.fix.trials.probing import run_probes
from fullgraph.fix.trials.runner import Part, run_trial
from tests.fix.run_case import index_what_is_loaded, load, recorded, runner_for


def call_of(function: Any, *args: Any, **kwargs: Any) -> RecordedCall:
    target = CompiledTarget("f", function, {})
    return RecordedCall(target, args, kwargs, CallContext.current())


def probes(function: Any, *args: Any, **kwargs: Any) -> dict[str, Probe]:
    return {each.name: each for each in probes_of(call_of(function, *args, **kwargs), 1000)}


def scaled(x: torch.Tensor, batch: dict[str, torch.Tensor], *rest: Any, flag: bool = False) -> Any:
    return x * batch["mask"] * (2 if flag else 1)


def test_arguments_have_the_names_that_the_function_gives_them() -> None:
    found = probes(scaled, torch.ones(2, 3), {"mask": torch.ones(2, 3)}, torch.ones(2), 3)
    assert "`x` has a NaN" in found
    assert "`batch['mask']` is bfloat16" in found
    assert "`rest[0]` has no dimensions" in found
    assert "`rest[1]` is 4" in found


def test_a_default_that_the_call_does_not_pass_is_changed_too() -> None:
    probe = probes(scaled, torch.ones(2), {"mask": torch.ones(2)})["`flag` is True"]
    assert probe.call.kwargs == {"flag": True}
    assert probe.assumption == "`flag` is False"


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("`x` has a NaN", lambda x: x.isnan().sum() == 1),
        ("`x` is all zero", lambda x: not x.any()),
        ("`x` is all negative infinite", lambda x: x.isneginf().all()),
        ("`x` is empty", lambda x: x.shape == (0, 3)),
        ("`x` has size 1", lambda x: x.shape == (1, 3)),
        ("the last size of `x` is 1", lambda x: x.shape == (2, 1)),
        ("`x` has a dimension fewer", lambda x: x.shape == (3,)),
        ("`x` is transposed in memory", lambda x: x.shape == (2, 3) and x.stride() == (1, 2)),
        ("`x` is expanded", lambda x: x.shape == (2, 3) and x.stride(0) == 0),
        ("`x` is float64", lambda x: x.dtype == torch.float64),
        ("`x` is bool", lambda x: x.dtype == torch.bool),
        ("`x` requires gradients", lambda x: x.requires_grad and x.is_leaf),
        ("`x` is a NumPy array", lambda x: type(x).__name__ == "ndarray"),
    ],
)
def test_a_probe_has_the_property_that_it_names(name: str, holds: Any) -> None:
    probe = probes(lambda x: x, torch.arange(6.0).reshape(2, 3) + 1)[name]
    assert holds(probe.call.args[0])


def test_modes_are_probed() -> None:
    found = probes(torch.nn.Linear(3, 3).eval(), torch.ones(2, 3))
    assert not found["gradients are disabled"].call.context.grad
    assert found["inference mode"].call.context.inference
    assert found["autocast"].call.context.autocast == {"cpu": torch.bfloat16}
    assert found["the default dtype is float64"].call.context.default_dtype == torch.float64
    assert found["training mode"].training is True


def test_a_leaf_that_requires_gradients_is_computed_as_well() -> None:
    leaf = torch.ones(2, requires_grad=True)
    assert probes(lambda x: x, leaf)["`x` is computed"].computed == 0
    assert "`x` is computed" not in probes(lambda x: x, leaf * 2)


ARRAYS = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        {line}

f = Model()

def inputs():
    return (torch.ones(2, 3),)
"""


@pytest.mark.parametrize(
    ("line", "by", "fails"),
    [
        ("return x * 1.0", "return x * x.new_ones(())", True),
        # The original rejects arrays as well, with another exception.
        ("return x.add(1.0)", "return torch.add(x, 1.0)", False),
    ],
)
def test_a_module_that_accepts_arrays_has_to_accept_them(
    tmp_path: Path, line: str, by: str, fails: bool
) -> None:
    program, indent = ARRAYS.format(line=line), " " * 8
    failed = failed_probes(program, tmp_path, indent + line, indent + by)
    assert ("`x` is a tensor" in {each.assumption for each in failed}) is fails


def test_tensors_that_could_be_one_are_probed_as_one() -> None:
    probe = probes(lambda x, y: x + y, torch.ones(2), torch.zeros(2))["`x` and `y` are one tensor"]
    one, other = probe.call.args
    assert one is other


dtypes = st.sampled_from([torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
shapes = st.lists(st.integers(0, 3), max_size=3)


@given(st.lists(st.tuples(dtypes, shapes), max_size=3), st.integers(-2, 2))
def test_a_recorded_call_is_never_changed(tensors: list[Any], number: int) -> None:
    args = [torch.ones(shape).to(dtype) for dtype, shape in tensors]
    call = call_of(lambda *args: args, *args, number)
    names = [probe.name for probe in probes_of(call, 1000)]
    assert len(names) == len(set(names))
    assert call.args[-1] == number
    for (dtype, shape), tensor in zip(tensors, call.args, strict=False):
        assert tensor.dtype == dtype
        assert torch.equal(tensor, torch.ones(shape).to(dtype))


def failed_probes(
    program: str, folder: Path, replaced: str, by: str, *only: str, compiled: int = 0
) -> list[FailedProbe]:
    """Return the failed probes of a program in which one line is replaced."""
    index_what_is_loaded()
    recorder: CallRecorder = recorded(load(program, folder))
    path = str(folder / "program.py")
    number = program.splitlines().index(replaced) + 1
    # The new line comes first and returns, so that the old one does not run.
    edit = insert_lines(program, number, [by])
    plan = FixPlan(files={path: FileEdits(path, (edit,))})
    request = TrialRequest(
        "probe",
        plan,
        most_probes=1000,
        most_compiled=compiled,
        probes=only,
        compiles_metadata=False,
    )
    part = Part(str(folder), 1)
    run_probes(request, recorder, part)
    return list(judge(part, request).failed_probes)


PROGRAM = """\
import torch

def f(x):
    return torch.where(x > 0, x, 0.5 * x)

def inputs():
    return (torch.ones(2, 3),)
"""
LINE = "    return torch.where(x > 0, x, 0.5 * x)"


@pytest.mark.parametrize(
    ("by", "assumption"),
    [
        ("    return x.clone()", "the numbers in `x` are like those of the recorded calls"),
        ("    return torch.where(x > 0, x, 0.5 * x).to(torch.float32)", "`x` is torch.float32"),
        (
            "    return torch.where(x > 0, x, 0.5 * x).detach()",
            "the arguments require no gradients",
        ),
        (
            "    return torch.where(x > 0, x.flatten()[0], 0.5 * x)",
            "`x` has no NaN",
        ),
        (
            "    return torch.where(x > 0, x, 0.5 * x).contiguous()",
            "no caller relies on the strides of the results",
        ),
    ],
)
def test_what_a_change_assumes_is_named(tmp_path: Path, by: str, assumption: str) -> None:
    assumptions = {each.assumption for each in failed_probes(PROGRAM, tmp_path, LINE, by)}
    assert assumption in assumptions


def test_a_change_that_differs_for_two_properties_at_once_assumes_one_of_them(
    tmp_path: Path,
) -> None:
    wrong = "(0.0 if x.dim() > 1 or x.is_floating_point() else 1.0)"
    found = failed_probes(PROGRAM, tmp_path, LINE, f"{LINE} + {wrong}")
    assert {each.assumption for each in found} == {
        "`x` is 2-dimensional, or `x` is torch.float32",
        "`x` has dimensions, or `x` is torch.float32",
    }


SABOTAGE = """\
import sys
import torch
import fullgraph.outcomes.compare

def everything_is_equal(*args, **options):
    return fullgraph.outcomes.compare.Comparison()

def f(x):
    # It runs in the process of the trial, also while that compares.
    for name, module in list(sys.modules.items()):
        if name.startswith("fullgraph.") and name != "fullgraph.outcomes.compare":
            if hasattr(module, "compare_outcomes"):
                module.compare_outcomes = everything_is_equal
            if hasattr(module, "metadata_problems"):
                module.metadata_problems = lambda *args: []
    torch.equal = lambda *args: True
    return torch.where(x > 0, x, 0.5 * x)

def inputs():
    return (torch.ones(2, 3),)
"""


def test_a_program_that_replaces_what_compares_does_not_pass_with_another_result(
    tmp_path: Path,
) -> None:
    with runner_for(SABOTAGE, tmp_path) as runner:
        path = str(tmp_path / "program.py")
        number = SABOTAGE.splitlines().index(LINE) + 1
        edit = insert_lines(SABOTAGE, number, ["    return x.clone()"])
        plan = FixPlan(files={path: FileEdits(path, (edit,))})
        request = TrialRequest("probe", plan, most_probes=120)
        result = run_trial(runner, request)
    assert not result.error
    assert result.failed_probes


CONSTANTS = """\
import torch

SCALE = 0.5

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = 2

    def forward(self, x: torch.Tensor):
        return x * SCALE + self.offset

f = Model()

def inputs():
    return (torch.ones(2, 3),)
"""


def test_constants_of_the_module_and_attributes_are_changed(tmp_path: Path) -> None:
    line = "        return x * SCALE + self.offset"
    found = failed_probes(CONSTANTS, tmp_path, line, "        return x * 0.5 + 2")
    assert {each.assumption for each in found} == {"`SCALE` is 0.5", "`self.offset` is 2"}
    assert not any(each.is_metadata for each in found)


def test_a_change_that_is_always_right_assumes_nothing(tmp_path: Path) -> None:
    by = "    return torch.where(x > 0, x, x * 0.5)"
    assert failed_probes(PROGRAM, tmp_path, LINE, by) == []


def test_what_varies_by_itself_is_not_blamed_on_a_change(tmp_path: Path) -> None:
    program = """\
import torch

COUNT = [0]

def f(x):
    COUNT[0] += 1
    return x + COUNT[0]

def inputs():
    return (torch.ones(2),)
"""
    assert failed_probes(program, tmp_path, "    return x + COUNT[0]", "    pass") == []


REMEMBERING = """\
import torch

SEEN = []

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(3))
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        SEEN.append(x.shape[0])
        if x.shape[0] == 0:
            raise ValueError("no rows")
        self.last = x.mean(0)
        return self.weight * self.last

f = Model()

def inputs():
    return (torch.ones(2, 3),)
"""


@pytest.mark.parametrize(
    ("line", "by", "probe", "assumption"),
    [
        (
            # The backward pass of the first call needs what the second one overwrites.
            "        self.last = x.mean(0)",
            "        self.last = self.last.detach().copy_(x.detach().mean(0))"
            "; return self.weight * self.last + (x.mean(0) - x.mean(0))",
            "two calls before one backward pass",
            "each call is followed by its own backward pass before the next one",
        ),
        (
            "        return self.weight * self.last",
            "        return self.last.mul_(self.weight.detach())",
            "a write to each result",
            "no caller writes to the results",
        ),
        (
            "        SEEN.append(x.shape[0])",
            "        SEEN.append(2)",
            "`x` has size 1",
            "`x` has more than one row",
        ),
        (
            '            raise ValueError("no rows")',
            '            raise ValueError("nothing")',
            "`x` is empty",
            "`x` is not empty",
        ),
    ],
    ids=["saved for backward", "shared memory", "a global", "a message"],
)
def test_what_a_call_leaves_behind_is_compared(
    tmp_path: Path, line: str, by: str, probe: str, assumption: str
) -> None:
    found = failed_probes(REMEMBERING, tmp_path, line, by, probe)
    assert assumption in {each.assumption for each in found}


def test_a_write_to_shared_memory_is_noticed(tmp_path: Path) -> None:
    program = """\
import torch

def f(x, y):
    z = y * 2
    x.add_(1)
    return z

def inputs():
    return torch.ones(4), torch.zeros(4)
"""
    found = failed_probes(
        program,
        tmp_path,
        "    z = y * 2",
        "    x.add_(1); return y * 2",
        "`x` and `y` overlap in memory",
    )
    assert {each.assumption for each in found} == {"`x` and `y` share no memory"}


def test_a_gradient_of_zeros_instead_of_none_is_named(tmp_path: Path) -> None:
    program = """\
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rare = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        if x.sum() > 100:
            return x * self.rare
        return x * 2

f = Model()

def inputs():
    return (torch.ones(2, 3, requires_grad=True),)
"""
    line = "        if x.sum() > 100:"
    by = "        return torch.where(x.sum() > 100, x * self.rare, x * 2)"
    found = failed_probes(program, tmp_path, line, by, "the recorded call", compiled=1)
    assert "no caller tells a gradient of zeros from None" in {each.assumption for each in found}


def test_values_run_compiled_with_each_backend_though_metadata_does_not(tmp_path: Path) -> None:
    index_what_is_loaded()
    recorder = recorded(load(PROGRAM, tmp_path))
    plan = FixPlan(settings={"capture_scalar_outputs": True})
    request = TrialRequest("probe", plan, most_probes=40, most_compiled=4, compiles_metadata=False)
    ran = run_probes(request, recorder, Part(str(tmp_path), 1)).probes
    assert ran.backends == {"aot_eager": 4, "eager": 4}


HELPER = """\
import torch

class Scaling:
    def scaled(self, h, *, by=2.0):
        factor = by if h.abs().sum() > 4 else 0.5
        return h.sum() * factor

scaling = Scaling()

def f(x):
    return scaling.scaled(x.float().sin()).cos()

def inputs():
    return (torch.ones(2, 3),)
"""


def test_a_changed_function_is_probed_by_itself(tmp_path: Path) -> None:
    # The compiled function never passes bfloat16, but other callers may.
    line = "        factor = by if h.abs().sum() > 4 else 0.5"
    by = "        factor = torch.where(h.abs().sum() > 4, by, 0.5); return h.sum() * factor"
    found = failed_probes(HELPER, tmp_path, line, by)
    assumptions = {each.assumption for each in found}
    assert "in `Scaling.scaled`, `h` is torch.float32" in assumptions
    assert "`x` is torch.float32" not in assumptions


def test_what_a_compiled_function_assumes_as_well_is_said_once(tmp_path: Path) -> None:
    program = HELPER.replace("x.float().sin()", "x")
    line = "        factor = by if h.abs().sum() > 4 else 0.5"
    by = "        factor = torch.where(h.abs().sum() > 4, by, 0.5); return h.sum() * factor"
    assumptions = {each.assumption for each in failed_probes(program, tmp_path, line, by)}
    assert "`x` is torch.float32" in assumptions
    assert "in `Scaling.scaled`, `h` is torch.float32" not in assumptions
