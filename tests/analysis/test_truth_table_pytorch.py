"""Rows of the truth table in docs/counting.md that PyTorch's own tests have revealed."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch._dynamo import graph_break

import fullgraph
from fullgraph.model.report import Report

Call = Callable[..., Report]
HERE = str(Path(__file__))
X = torch.ones(3)


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def is_explained(report: Report) -> bool:
    return not any(difference.unexplained for difference in report.disagreements)


def line_of(function: Callable[..., Any], offset: int = 0) -> int:
    return function.__code__.co_firstlineno + offset


# Backends


def assign(x: Tensor, mask: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x[mask] = y
    return x * 2


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_backend_that_refuses_is_reported_at_the_users_function(
    compiled_call: Call, backend: str
) -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(2, requires_grad=True)
    mask = torch.tensor([True, False, True, False])
    report = compiled_call(assign, x, mask, y, backend=backend)
    (cause,) = report.causes
    assert (cause.id, cause.file, cause.line) == ("GB0219", HERE, line_of(assign))
    assert cause.owner == "yours"
    assert line_of(assign) in [line.number for line in cause.excerpt]
    assert (cause.occurrences, cause.skipped, cause.cut) == (1, 1, 0)
    assert report.summary.graphs == 0
    assert is_explained(report)
    assert "def assign(" in str(report)


def test_a_graph_that_dynamo_hands_over_again_counts_once(compiled_call: Call) -> None:
    def clamp(x: Tensor, bound: float) -> Tensor:
        return x.clamp(min=bound)

    with fullgraph.watch() as session:
        compiled = torch.compile(clamp, backend="aot_eager")
        for bound in (0.1, 0.2, 0.3):
            compiled(X, bound)
    report = session.report()
    assert any("Tensorify" in str(e) for e in session.session().events)
    assert [graph.compile for graph in report.graphs] == ["0/0", "0/1", "0/2"]
    assert not report.disagreements


@torch.compiler.nested_compile_region
def region(x: Tensor) -> Tensor:
    return x * 2


def test_operations_are_those_that_the_backend_gets(compiled_call: Call) -> None:
    given: list[int] = []

    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        given.append(sum(node.op.startswith("call") for node in module.graph.nodes))
        return module.forward

    once = compiled_call(lambda x: region(x), X, backend=backend)
    twice = compiled_call(lambda x: region(region(x)), X, backend=backend)
    assert [once.summary.ops, twice.summary.ops] == given
    assert not once.disagreements
    assert not twice.disagreements


def test_a_backend_that_changes_the_graph_is_the_reason_of_a_difference(
    compiled_call: Call,
) -> None:
    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        output = next(node for node in module.graph.nodes if node.op == "output")
        with module.graph.inserting_before(output):
            module.graph.call_function(torch.sin, tuple(output.args[0]))
        return module.forward

    report = compiled_call(lambda x: x + 1, X, backend=backend)
    assert report.summary.ops == 1
    (difference,) = report.disagreements
    assert (difference.ours, difference.theirs, difference.unexplained) == (1, 2, 0)
    assert "changed 1 of the graphs" in difference.why


# Skipped frames


def test_frames_of_the_standard_library_are_not_skipped_frames(compiled_call: Call) -> None:
    def decorates(x: Tensor) -> Tensor:
        @torch._dynamo.disable
        def inner() -> Tensor:
            return x.cos()

        return inner() + 1

    assert compiled_call(lambda x: x + 1, X, backend=lambda m, _: m).skipped_frames == ()
    assert compiled_call(decorates, X).skipped_frames == ()


def test_nothing_resumes_in_a_skipped_frame(compiled_call: Call) -> None:
    def slices(lengths: Tensor, mask: Tensor) -> Tensor:
        start = lengths[3]
        mask[(3, slice(start, None))] = 0
        return mask

    report = compiled_call(slices, torch.full((10,), 4), torch.ones(10, 20))
    assert report.summary.skipped_frames == 1
    assert sorted((site.resumed, site.skipped) for site in report.sites) == [(0, 1), (1, 0)]
    assert report.skipped_frames[0].occurrences == 1


# Cascading breaks: each program has one root cause with its break, and none without it.

BREAK = True


def maybe_break() -> None:
    if BREAK:
        graph_break()


def inner(x: Tensor) -> Tensor:
    maybe_break()
    return x.cos().sum()


def outer(x: Tensor) -> Tensor:
    return inner(x.sin())


def transforms(x: Tensor) -> Tensor:
    return torch.func.vmap(outer)(x + 1)


def differentiates(x: Tensor) -> Tensor:
    return torch.func.grad(outer)(x + 1)


def iterates(x: Tensor) -> Tensor:
    numbers = map(float, [1, 2, 3])
    x = x + next(numbers)
    maybe_break()
    return x + next(numbers)


def enumerates(x: Tensor) -> Tensor:
    numbers = iter([1, 2, 3])
    maybe_break()
    for number in numbers:
        x = x + number
    return x


@contextlib.contextmanager
def scope() -> Iterator[int]:
    yield 1


def enters(x: Tensor) -> Tensor:
    context = scope()
    y = x + 1
    maybe_break()
    with context as n:
        return y + n


class Model(torch.nn.Module):
    def __init__(self) -> None:
        maybe_break()
        super().__init__()
        self.n = 3

    def forward(self, x: Tensor) -> Tensor:
        return x + self.n


def constructs(x: Tensor) -> Any:
    return Model()(x)


@pytest.mark.parametrize(
    "program", [transforms, differentiates, iterates, enumerates, enters, constructs]
)
def test_breaks_that_go_with_another_one_are_its_cascading_breaks(
    compiled_call: Call, monkeypatch: pytest.MonkeyPatch, program: Callable[..., Any]
) -> None:
    with_break = compiled_call(program, torch.ones(3, 3), backend="aot_eager")
    assert [cause.id for cause in with_break.causes] == ["GB0025"]
    assert is_explained(with_break)
    monkeypatch.setitem(globals(), "BREAK", False)
    assert compiled_call(program, torch.ones(3, 3), backend="aot_eager").summary.sites == 0


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Any:
        return self.linear(x)


def test_a_module_made_inside_compiled_code_is_one_root_cause(compiled_call: Call) -> None:
    report = compiled_call(lambda x: Linear()(x), torch.ones(2, 2))
    (cause,) = report.causes
    assert cause.id == "GB0264"
    assert {cascade.id for cascade in cause.cascades} == {"GB0119"}


def makes_model() -> torch.nn.Module:
    for _ in range(1):
        graph_break()
    return Linear()


def test_a_module_made_by_a_skipped_function_is_a_cascading_break(compiled_call: Call) -> None:
    report = compiled_call(lambda x: makes_model()(x), torch.ones(2, 2))
    assert [cause.id for cause in report.causes if cause.id != "GB0264"] == ["GB0025"]
    assert "GB0119" in {site.id for site in report.sites if site.cascade_of}


def test_a_transform_of_a_compiled_function_is_a_root_cause() -> None:
    with fullgraph.watch() as session:
        torch.func.grad(torch.compile(lambda x: x.cos().sum(), backend="aot_eager"))(X)
    assert [cause.id for cause in session.causes] == ["GB0149"]


def test_an_iterator_of_the_caller_is_a_root_cause(compiled_call: Call) -> None:
    def takes(x: Tensor, numbers: Iterator[int]) -> Tensor:
        graph_break()
        return x + next(numbers)

    report = compiled_call(takes, X, map(int, "123"))
    assert len(report.causes) == 2
    assert "next" in report.causes[0].explanation
    assert report.causes[1].id == "GB0025"


def test_a_second_break_of_a_function_is_a_root_cause(compiled_call: Call) -> None:
    def reads(x: Tensor) -> Tensor:
        y = x * x.sum().item()
        graph_break()
        return y + y.max().item()

    def calls(x: Tensor) -> Tensor:
        return reads(x + 1)

    report = compiled_call(calls, X)
    assert sorted(str(cause.id) for cause in report.causes) == ["GB0025", "GB0124", "GB0124"]


# Stacks


def breaks_twice(x: Tensor) -> Tensor:
    graph_break()
    x = x + 1
    graph_break()
    return x + 2


def calls_breaks_twice(x: Tensor) -> Any:
    return torch.compile(breaks_twice, backend="eager")(x)


def test_a_stack_is_the_traceback_that_torch_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    logger = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks")
    monkeypatch.setattr(logger, "isEnabledFor", lambda level: True)
    monkeypatch.setattr(logger, "debug", lambda text, *args, **_: logged.append(text % args))
    with fullgraph.watch() as session:
        calls_breaks_twice(X)
    stacks = [
        [(frame.line, frame.function) for frame in site.stack] for site in session.report().sites
    ]
    assert [stack[-2:] for stack in stacks] == [
        [(line_of(calls_breaks_twice, 1), "calls_breaks_twice"), (line, "breaks_twice")]
        for line in (line_of(breaks_twice, 1), line_of(breaks_twice, 3))
    ]
    shown = [re.findall(r'File ".*", line (\d+), in (\S+)', text) for text in logged]
    # torch 2.15 leaves out the first frames, which belong to the test runner.
    assert [stack[-9:] for stack in stacks] == [
        [(int(line), name) for line, name in stack[-9:]] for stack in shown if stack
    ]


# Recompiles


def test_only_conditions_that_do_not_hold_are_listed() -> None:
    marked = torch.ones(4, 5)
    with fullgraph.watch() as session:
        compiled = torch.compile(lambda a: a + 1, backend="eager")
        compiled(torch.ones(4, 5))
        torch._dynamo.mark_dynamic(marked, 1)
        compiled(marked)
    (recompile,) = session.report().recompiles
    (failed,) = recompile.failures[0].failed
    assert "_dynamo_dynamic_indices" in failed


class Gaussian:
    """Has a shape like a tensor, and nothing else."""

    def __init__(self) -> None:
        self.mean = X
        self.shape = X.shape


@pytest.mark.parametrize(
    "other", [np.int64(1), Gaussian(), None, 2], ids=lambda o: type(o).__name__
)
def test_a_tensor_that_became_something_else_is_one_reason(other: object) -> None:
    def adds(x: Any, y: Tensor) -> Tensor:
        return y + (x.mean if isinstance(x, Gaussian) else 0 if x is None else x)

    with fullgraph.watch() as session:
        compiled = torch.compile(adds, backend="eager")
        compiled(torch.tensor(1), X)
        compiled(other, X)
    report = session.report()
    (failed,) = report.recompiles[0].failures[0].failed
    assert "x" in failed
    assert "tensor" in failed.lower()
    assert not report.problems


def add(x: Tensor, n: int) -> Tensor:
    return x + n


def test_a_limit_that_raises_a_break_is_a_root_cause() -> None:
    with fullgraph.watch() as session, torch._dynamo.config.patch(recompile_limit=1):
        compiled = torch.compile(add, backend="eager", dynamic=False)
        with torch._dynamo.error_on_graph_break(True):
            compiled(X, 1)
            with pytest.raises(torch._dynamo.exc.Unsupported):
                compiled(X, 2)
    report = session.report()
    assert [(cause.id, cause.raised) for cause in report.causes] == [("GB0039", 1)]
    assert (report.summary.compiles, report.summary.recompiles, report.summary.refused) == (1, 0, 1)


def test_a_limit_that_raises_an_error_is_an_error() -> None:
    with fullgraph.watch() as session, torch._dynamo.config.patch(recompile_limit=1):
        compiled = torch.compile(add, backend="eager", dynamic=False, fullgraph=True)
        compiled(X, 1)
        with pytest.raises(Exception, match="fullgraph=True"):
            compiled(X, 2)
    report = session.report()
    assert [(error.id, error.outcome) for error in report.errors] == [("GB0039", "raised")]
    assert report.summary.compiles == 1


# Errors and messages


def test_an_error_keeps_its_id_its_line_and_its_message(compiled_call: Call) -> None:
    def adds(x: Tensor, y: Tensor) -> Tensor:
        x = x.sin()
        return x + y  # fails

    with fullgraph.watch() as session, pytest.raises(Exception, match="fake tensor"):
        torch.compile(adds, backend="eager")(X, torch.ones(4))
    (error,) = session.report().errors
    assert (error.id, error.file, error.line) == ("GB4315", HERE, line_of(adds, 2))
    assert (error.type, error.owner) == ("TorchRuntimeError", "yours")
    assert "torch.Size([4])" in error.explanation
    assert any("# fails" in line.text for line in error.excerpt)


class NoLength(tuple[int, ...]):
    def __len__(self) -> int:
        raise NotImplementedError  # while guards are built


@pytest.mark.parametrize("kind", ["replaced", "raised by a class"])
def test_an_error_without_torchs_stack_has_the_line_that_raised_it(kind: str) -> None:
    lengths = NoLength((1, 2))

    def unpacks(x: Tensor) -> Tensor:
        first, second = lengths
        return x * first + second

    def reads_version(x: Tensor) -> Any:
        return x + len(importlib.metadata.version("no_such_package"))

    function = unpacks if kind == "raised by a class" else reads_version
    with fullgraph.watch() as session, pytest.raises(torch._dynamo.exc.InternalTorchDynamoError):
        torch.compile(function, backend="eager")(X)
    (error,) = session.report().errors
    expected = line_of(NoLength.__len__, 1) if function is unpacks else line_of(reads_version, 1)
    shown = error.shown or error
    assert (shown.file, shown.line) == (HERE, expected)


def test_a_higher_order_operator_keeps_its_reason() -> None:
    def chooses(pred: Tensor, names: tuple[str]) -> Any:
        return torch.cond(pred, lambda n: n[0] + 1, lambda n: n[0] * 2, (names,))

    with fullgraph.watch() as session, contextlib.suppress(Exception):
        torch.compile(chooses, backend="eager")(torch.tensor(True), ("a",))
    (cause,) = session.causes
    assert 'can only concatenate str (not "int") to str' in cause.explanation
    assert "torch.cond" in cause.explanation


# Differences from torch's own counts


def test_a_break_that_leaves_the_rest_in_eager_mode_is_explained(compiled_call: Call) -> None:
    def slices(lengths: Tensor) -> Tensor:
        x = torch.ones(8) + 1
        return x[lengths[0] :] * 5

    report = compiled_call(slices, torch.ones(10, dtype=torch.long))
    assert report.causes[0].cut == 1
    (difference,) = report.disagreements
    assert (difference.ours, difference.theirs, difference.unexplained) == (1, 0, 0)
    assert "left the rest of a function in eager mode" in difference.why


def branches(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return x + 1
    return x - 1


def test_branches_of_nested_breaks_are_explained(compiled_call: Call) -> None:
    with torch._dynamo.config.patch(nested_graph_breaks=True):
        report = compiled_call(lambda x: branches(x) * 2, X)
    (difference,) = report.disagreements
    assert (difference.ours, difference.theirs, difference.unexplained) == (1, 0, 0)
    assert "at a data-dependent branch" in difference.why


def test_an_export_is_not_compared_with_an_older_compile_of_the_same_id() -> None:
    class Sum(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.sin() + x.cos()

    torch.compile(functools.partial(add, n=1), backend="eager")(X)
    torch._dynamo.reset()
    with fullgraph.watch() as session:
        torch.export.export(Sum(), (X,), strict=True)
    report = session.report()
    assert report.summary.ops == 3
    assert not report.disagreements
