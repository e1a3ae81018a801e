"""Capturing compiles, graphs, recompiles and settings, with every way to use torch.compile."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import callback, graph_break

import fullgraph
from fullgraph.capture.compile_listener import CompileListener
from fullgraph.capture.dynamo_listener import HOOKS
from fullgraph.errors import CaptureError
from fullgraph.installed_torch import release_of
from fullgraph.model.events import Backward, Break, Compile, Settings
from fullgraph.model.report import Report

X = torch.ones(4)


def breaks(x: Tensor) -> Tensor:
    x = x.sin()
    graph_break()
    return x.cos()


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).relu()


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize(
    "options",
    [
        {"backend": "eager"},
        {"backend": "aot_eager"},
        {"backend": "eager", "dynamic": True},
        {"backend": "eager", "dynamic": False},
        {"backend": lambda module, inputs: module.forward},
    ],
    ids=["eager", "aot_eager", "dynamic", "static", "callable"],
)
def test_a_break_is_captured_with_any_backend(options: dict[str, Any]) -> None:
    with fullgraph.watch() as session:
        torch.compile(breaks, **options)(X)
    summary = session.summary
    assert (summary.causes, summary.graphs, summary.ops, summary.compiles) == (1, 2, 2, 2)


def test_inductor_with_a_mode_and_its_late_backward() -> None:
    # From a cache, the backward graph would come together with the forward one.
    without_cache = torch._functorch.config.patch(enable_autograd_cache=False)
    with fullgraph.watch() as session, without_cache:
        # Both graphs are a matrix product, so inductor needs no C++ compiler.
        compiled = torch.compile(nn.Linear(4, 4, bias=False).forward, mode="reduce-overhead")
        compiled(X).sum().backward()
    assert session.summary.graphs == 1
    assert {graph.backend for graph in session.report().graphs} == {"inductor"}
    events = session.session().events
    (backward,) = [event for event in events if isinstance(event, Backward)]
    (compile_,) = [event for event in events if isinstance(event, Compile)]
    total = backward.seconds + compile_.seconds
    assert session.summary.compile_seconds == pytest.approx(total, abs=0.002)


def test_a_late_backward_of_one_thread_may_overlap_a_compile_of_another() -> None:
    handler, trigger = callback.callback_handler, callback.CallbackTrigger
    # torch announces the start of the first and the end of the last compile of all threads.
    with (
        fullgraph.watch() as session,
        ExitStack() as backward,
        handler.install_callbacks(trigger.DYNAMO, "0/0"),
    ):
        backward.enter_context(handler.install_callbacks(trigger.LAZY_BACKWARD, "1/0"))
    assert session.report().problems == ()
    assert not any(isinstance(event, Backward) for event in session.session().events)


def test_torch_compile_as_a_decorator() -> None:
    with fullgraph.watch() as session:

        @torch.compile(backend="eager")
        def decorated(x: Tensor) -> Tensor:
            return breaks(x)

        decorated(X)
    assert session.summary.causes == 1


def test_module_compile_and_regional_compilation() -> None:
    with fullgraph.watch() as session:
        whole = Layers()
        whole.compile(backend="eager")
        whole(X)
    assert (session.summary.compiles, session.summary.graphs) == (1, 1)
    torch._dynamo.reset()
    with fullgraph.watch() as session:
        regional = Layers()
        for layer in regional.layers:
            layer.compile(backend="eager")
        regional(X)
    assert session.summary.graphs >= 1
    assert {graph.function for graph in session.report().graphs} == {"forward"}


def test_compiled_autograd_is_captured_with_ids_of_its_own() -> None:
    with fullgraph.watch() as session, torch._dynamo.config.patch(compiled_autograd=True):
        model = torch.compile(Layer(), backend="eager")
        torch.compile(lambda: model(X).sum().backward(), backend="eager")()
    ids = [event.id for event in session.session().events if isinstance(event, Compile)]
    assert any(identifier.startswith("!") for identifier in ids)


def test_a_compile_knows_its_frame_time_guards_and_restarts() -> None:
    with fullgraph.watch() as session:
        torch.compile(breaks, backend="eager")(X)
    compiles = [event for event in session.session().events if isinstance(event, Compile)]
    assert [(c.id, c.code.function, c.outcome) for c in compiles] == [
        ("0/0", "breaks", "compiled"),
        ("1/0", "breaks", "compiled"),
    ]
    assert compiles[0].code.resumed_at is None
    assert compiles[1].code.resumed_at == breaks.__code__.co_firstlineno + 2
    assert all(c.seconds > 0 and c.guards for c in compiles)
    assert len(compiles[0].restarts) == 1


def test_an_occurrence_has_its_reason_and_the_whole_stack() -> None:
    def outer(x: Tensor) -> Tensor:
        return breaks(x) + 1

    with fullgraph.watch() as session:
        torch.compile(outer, backend="eager")(X)
    first = next(event for event in session.session().events if isinstance(event, Break))
    assert [frame.function for frame in first.stack.frames[-2:]] == ["outer", "breaks"]
    assert first.stack.traced == 2
    here = [frame for frame in first.stack.frames if frame.file == __file__]
    assert here[0].function == "test_an_occurrence_has_its_reason_and_the_whole_stack"
    assert not any("fullgraph/capture" in frame.file for frame in first.stack.frames)
    reason = first.reasons[0]
    assert reason.id == "GB0025"
    assert reason.explanation
    assert first.stack.frames[-1].code == "graph_break()"
    assert (first.stack.frames[-1].column, first.stack.frames[-1].end_column) == (5, 18)


def test_every_failed_guard_is_named_not_only_the_first() -> None:
    model = Layer()
    model.scale = 2  # type: ignore[assignment]

    def scaled(x: Tensor, n: int, flag: object = None) -> Tensor:
        result: Tensor = model(x) * n * model.scale
        return result if flag is None else -result

    with fullgraph.watch() as session:
        compiled = torch.compile(scaled, backend="eager")
        compiled(torch.ones(3, 4), 1)
        model.scale = 3  # type: ignore[assignment]
        compiled(torch.ones(5, 4, requires_grad=True), 7, flag=True)
    (recompile,) = session.report().recompiles
    (failure,) = recompile.failures
    failed = "\n".join(failure.failed)
    assert failure.compiled == "0/0"
    for part in ("n == 1", "flag is None", "scale == 2", "requires_grad False, now True"):
        assert part in failed
    assert "size(0) 3, now 5" in failed


def test_of_a_guard_with_several_conditions_only_those_that_fail_are_named() -> None:
    marked = torch.ones(4, 3)
    torch._dynamo.mark_dynamic(marked, 0)
    with fullgraph.watch() as session:
        compiled = torch.compile(lambda x: x + 1, backend="eager")
        compiled(torch.ones(4, 3))
        compiled(marked)
    (recompile,) = session.report().recompiles
    (condition,) = recompile.failures[0].failed
    assert condition.startswith("hasattr(x, '_dynamo_dynamic_indices')")


def test_a_change_that_follows_from_another_one_is_not_listed() -> None:
    with fullgraph.watch() as session:
        compiled = torch.compile(lambda x, options: x * options.rate, backend="eager")
        compiled(X, SimpleNamespace(rate=1))
        compiled(X, Namespace(rate=2))
    (recompile,) = session.report().recompiles
    assert [change.kind for change in recompile.failures[0].changes] == ["type"]


def test_settings_are_captured_again_when_they_change() -> None:
    with fullgraph.watch() as session:
        torch.compile(breaks, backend="eager")(X)
        with torch._dynamo.config.patch(capture_scalar_outputs=True):
            torch.compile(Layer(), backend="eager")(X)
    settings_events = [event for event in session.session().events if isinstance(event, Settings)]
    assert [settings.values["capture_scalar_outputs"] for settings in settings_events] == [
        False,
        True,
    ]


def test_a_function_that_dynamo_did_not_try_is_reported() -> None:
    with fullgraph.watch() as session:
        linear = nn.Linear(4, 4)
        linear.compile(backend="eager")
        linear(X)
    report = session.report()
    assert report.summary.compiles == 0
    assert report.skipped_frames
    assert "Dynamo skipped every frame" in str(report)


def test_watches_can_be_nested_and_leave_nothing_behind() -> None:
    from torch._dynamo import convert_frame

    original = convert_frame._compile
    with fullgraph.watch() as outer:
        torch.compile(breaks, backend="eager")(X)
        with fullgraph.watch() as inner:
            torch.compile(Layer(), backend="eager")(X)
        assert convert_frame._compile is not original
    assert convert_frame._compile is original
    assert (outer.summary.graphs, inner.summary.graphs) == (3, 1)


def test_an_exception_in_a_listener_is_reported_and_does_not_reach_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("unexpected")

    monkeypatch.setattr(CompileListener, "before_graph", fails)
    with fullgraph.watch() as session:
        result = torch.compile(breaks, backend="eager")(X)
    assert torch.equal(result, breaks(X))
    report = session.report()
    assert [problem.fatal for problem in report.problems] == [False]
    assert "call_user_compiler" in report.problems[0].message
    assert any(entry.what == "graphs" for entry in report.disagreements)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.place)
def test_a_missing_hook_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, hook: Any) -> None:
    if not hook.serves(release_of(torch.__version__)):
        return
    gone = hook._replace(place=f"{hook.place}_gone")
    hooks = tuple(gone if other is hook else other for other in HOOKS)
    monkeypatch.setattr("fullgraph.capture.dynamo_listener.HOOKS", hooks)
    with pytest.raises(CaptureError, match="_gone, which capturing needs"):
        fullgraph.watch().__enter__()
    # Nothing was replaced by half: capturing works once the hook is there.
    monkeypatch.undo()
    with fullgraph.watch() as session:
        torch.compile(breaks, backend="eager")(X)
    assert session.summary.causes == 1


def test_explain_reports_one_call_and_leaves_a_compiled_function_usable() -> None:
    compiled = torch.compile(breaks, backend="eager")
    report = fullgraph.explain(compiled, X)
    assert isinstance(report, Report)
    assert (report.summary.causes, report.summary.graphs) == (1, 2)
    assert torch.equal(compiled(X), breaks(X))


def test_a_session_can_be_saved_and_read_back(tmp_path: Path) -> None:
    from fullgraph.analysis import analyze
    from fullgraph.model.session import load

    with fullgraph.watch() as session:
        torch.compile(breaks, backend="eager")(X)
    session.save(tmp_path / "session.jsonl")
    loaded = load(tmp_path / "session.jsonl")
    assert loaded.events[:-1] == session.session().events[:-1]
    assert analyze([loaded]).causes == session.causes


def test_graphs_name_their_function_and_operations(compiled_call: Callable[..., Report]) -> None:
    report = compiled_call(breaks, X)
    assert [(graph.function, graph.ops, graph.backend) for graph in report.graphs] == [
        ("breaks", 1, "eager"),
        ("breaks", 1, "eager"),
    ]


def test_a_reset_of_dynamo_loses_no_events() -> None:
    with fullgraph.watch() as session:
        for _ in range(3):
            torch._dynamo.reset()
            torch.compile(breaks, backend="eager")(X)
    summary = session.summary
    assert (summary.compiles, summary.graphs, summary.occurrences, summary.sites) == (6, 6, 3, 1)
    assert not session.report().disagreements


def test_torch_export_is_captured() -> None:
    class Branches(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + 1 if x.sum() > 0 else x

    with fullgraph.watch() as session, pytest.raises(torch._dynamo.exc.TorchDynamoException):
        torch.export.export(Branches(), (X,), strict=True)
    (cause,) = session.causes
    assert (cause.id, cause.raised) == ("GB0170", 1)


def test_columns_are_known_without_the_source() -> None:
    names: dict[str, Any] = {"graph_break": graph_break}
    exec("def f(x):\n    return (graph_break(), x + 1, graph_break())\n", names)
    with fullgraph.watch() as session:
        torch.compile(names["f"], backend="eager")(X)
    assert sorted(site.column or 0 for site in session.sites) == [13, 35]


def test_a_limit_that_raises_is_not_a_compile() -> None:
    patch = torch._dynamo.config.patch(recompile_limit=1, fail_on_recompile_limit_hit=True)
    with fullgraph.watch() as session, patch:
        compiled = torch.compile(lambda x: x + 1, backend="eager", dynamic=False)
        compiled(torch.ones(2))
        with pytest.raises(Exception, match="fail_on_recompile_limit_hit"):
            compiled(torch.ones(3))
    assert session.summary.compiles == 1
    assert [recompile.limit for recompile in session.report().recompiles] == ["recompile_limit"]


def test_a_function_that_compiles_another_one_does_not_compile_fullgraph() -> None:
    def compiles(x: Tensor) -> Tensor:
        for _ in range(2):
            # Dynamo skips this function, and compiles those that it calls.
            graph_break()
            x = torch.compile(Tensor.sin, backend="eager")(x)
        return x

    with fullgraph.watch() as session:
        torch.compile(compiles, backend="eager")(X)
    report = session.report()
    own = str(Path(fullgraph.__file__).parent)
    assert len(report.causes) == 1
    assert not [frame for frame in report.skipped_frames if frame.file.startswith(own)]
