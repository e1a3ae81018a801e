"""Probes of metadata run compiled only if the plan sees something new of their call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from fullgraph.fix.model import FixPlan
from fullgraph.fix.record.recorder import CallContext, CompiledTarget, RecordedCall
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.trials.plan_reach import without_redundant
from fullgraph.fix.trials.probes import Probe, probes_of
from fullgraph.fix.trials.samples import Sample
from tests.fix.run_case import load

_SCALARS = FixPlan(settings={"capture_scalar_outputs": True})
_TWO_PATHS = """
def f(x, lengths):
    x = x.double()
    if x.sum() > 0:
        x = x * 2
    return x[: int(lengths.max())]
"""


def compiled(function: Any, plan: FixPlan, *args: Any) -> set[str]:
    """Return the names of the probes that run compiled."""
    target = CompiledTarget("f", function, {})
    call = RecordedCall(target, args, {}, CallContext.current())
    found: list[Probe] = without_redundant(
        probes_of(call, 1000), plan, [Sample("call 1", call, True)]
    )
    return {each.name for each in found if each.compiled}


def test_a_setting_depends_on_what_data_dependent_operators_get() -> None:
    def f(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return x * 2 + lengths.max().item()

    names = compiled(f, _SCALARS, torch.ones(4, 3), torch.arange(4))
    assert {"`lengths` is bfloat16", "`lengths` is bool"} <= names
    assert not names & {"`x` is bfloat16", "`x` is empty", "all tensors require gradients"}
    # The values of tensors are no metadata.
    assert {"`x` has a NaN", "`lengths` is all zero or False"} <= names


def test_a_list_of_a_tensor_is_read_without_an_operator() -> None:
    def f(x: torch.Tensor, lengths: torch.Tensor) -> Any:
        return x.split(lengths.tolist())

    names = compiled(f, _SCALARS, torch.ones(4, 3), torch.tensor([1, 3]))
    assert "`lengths` has size 1" in names
    assert "`x` is bfloat16" not in names


def test_another_setting_depends_on_all_operators() -> None:
    plan = FixPlan(settings={"allow_rnn": True})
    assert "`args[0]` is bfloat16" in compiled(lambda *args: args[0] * 2, plan, torch.ones(4, 3))


def test_a_rewrite_depends_on_the_names_of_its_lines_and_on_modes(tmp_path: Path) -> None:
    f = load(_TWO_PATHS, tmp_path).f
    path = f.__code__.co_filename
    start = _TWO_PATHS.index("x.sum() > 0")
    plan = FixPlan({path: FileEdits(path, (Edit(start, start + 1, "x * 1"),))})
    names = compiled(f, plan, torch.ones(4, 3), torch.arange(1, 5))
    assert {"`x` is empty", "`x` is transposed in memory", "autocast"} <= names
    # Of two that show the same, one is enough.
    assert len({"`x` requires gradients", "all tensors require gradients"} & names) == 1
    # They are gone when the changed line runs, or never get there.
    assert not {"`x` is bfloat16", "`lengths` is bool"} & names
