"""Every row of the truth table in docs/counting.md, on real torch."""

from __future__ import annotations

import contextlib
import copy
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import torch
from torch import Tensor
from torch._dynamo import graph_break

import fullgraph
from fullgraph.model.report import Report

Call = Callable[..., Report]
HERE = str(Path(__file__))
X = torch.ones(3)


def line_of(marker: str) -> int:
    """The number of the line in this file that ends with `# marker`."""
    lines = Path(__file__).read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, start=1) if line.endswith(f"# {marker}")]
    return number


def numbers(report: Report) -> tuple[int, int, int]:
    return report.summary.causes, report.summary.sites, report.summary.skipped_frames


def test_a_break_on_the_first_line_is_one_site(compiled_call: Call) -> None:
    def first(x: Tensor) -> Tensor:
        graph_break()  # first
        return x + 1

    report = compiled_call(first, X)
    assert numbers(report) == (1, 1, 0)
    assert (report.causes[0].file, report.causes[0].line) == (HERE, line_of("first"))
    assert report.causes[0].id == "GB0025"
    assert report.summary.graphs == 1


def test_a_break_just_before_the_return_is_one_site(compiled_call: Call) -> None:
    def last(x: Tensor) -> Tensor:
        y = x + 1
        graph_break()
        return y

    report = compiled_call(last, X)
    # What is left after the break computes nothing; it is not a frame that was given up on.
    assert numbers(report) == (1, 1, 0)


@pytest.mark.parametrize("kind", ["for", "while"])
def test_a_break_in_a_loop_is_one_cause_and_one_skipped_frame(
    compiled_call: Call, kind: str
) -> None:
    def with_for(x: Tensor) -> Tensor:
        for i in range(3):
            x = x + i
            graph_break()
        return x

    def with_while(x: Tensor) -> Tensor:
        i = 0
        while i < 3:
            x = x + 1
            graph_break()
            i += 1
        return x

    function = with_for if kind == "for" else with_while
    report = compiled_call(function, X)
    assert numbers(report) == (1, 1, 1)
    cause = report.causes[0]
    assert cause.id == "GB0025"
    assert [cascade.id for cascade in cause.cascades] == ["GB7000"]
    assert report.skipped_frames[0].function == function.__name__
    assert report.skipped_frames[0].site == cause.key


def test_a_break_in_try_finally_is_one_cause_and_one_skipped_frame(compiled_call: Call) -> None:
    def tries(x: Tensor) -> Tensor:
        x = x + 1
        try:
            x = x * 2
            graph_break()
            x = x + 3
        finally:
            x = x + 1
        return x

    assert numbers(compiled_call(tries, X)) == (1, 1, 1)


@contextlib.contextmanager
def manager() -> Iterator[None]:
    yield


def test_a_break_in_a_manager_that_cannot_resume_is_one_cause(compiled_call: Call) -> None:
    def enters(x: Tensor) -> Tensor:
        x = x + 1
        with manager():
            x = x + 2
            graph_break()
            x = x + 3
        return x + 4

    report = compiled_call(enters, X)
    assert numbers(report) == (1, 1, 1)
    assert [cascade.id for cascade in report.causes[0].cascades] == ["GB0066"]


def test_a_break_in_a_manager_that_can_resume_leaves_no_skipped_frame(compiled_call: Call) -> None:
    def enters(x: Tensor) -> Tensor:
        with torch.no_grad():
            x = x + 2
            graph_break()
            return x + 3

    assert numbers(compiled_call(enters, X)) == (1, 1, 0)


def helper(x: Tensor) -> Tensor:
    x = x + 1
    graph_break()
    return x + 2


def test_a_helper_that_is_called_twice_is_one_site(compiled_call: Call) -> None:
    def twice(x: Tensor) -> Tensor:
        return helper(helper(x))

    report = compiled_call(twice, X)
    assert numbers(report) == (1, 1, 0)
    assert report.summary.occurrences == 3


def test_the_same_break_on_two_lines_is_two_sites(compiled_call: Call) -> None:
    def two(x: Tensor) -> Tensor:
        x = x + 1
        graph_break()
        x = x + 1
        graph_break()
        return x + 1

    assert numbers(compiled_call(two, X)) == (2, 2, 0)


def test_two_breaks_on_one_line_are_two_sites(compiled_call: Call) -> None:
    def one_line(x: Tensor) -> Any:
        return (graph_break(), graph_break(), x + 1)  # one line

    report = compiled_call(one_line, X)
    assert numbers(report) == (2, 2, 0)
    assert {site.line for site in report.sites} == {line_of("one line")}
    text = Path(__file__).read_text().splitlines()[line_of("one line") - 1]
    columns = sorted(site.column or 0 for site in report.sites)
    assert [text[column - 1 :].startswith("graph_break()") for column in columns] == [True, True]
    assert columns[0] != columns[1]


@torch.compiler.disable
def disabled(x: Tensor) -> Tensor:
    return x + 1


def test_a_disabled_function_is_one_user_requested_site(compiled_call: Call) -> None:
    def calls(x: Tensor) -> Tensor:
        return disabled(x + 1) + 1

    report = compiled_call(calls, X)
    assert numbers(report) == (1, 1, 0)
    assert report.causes[0].user_requested


def test_the_recompile_limit_is_a_finding_and_not_a_break(compiled_call: Call) -> None:
    def add(x: Tensor, n: int) -> Tensor:
        return x + n

    torch._dynamo.reset()
    with fullgraph.watch() as session, torch._dynamo.config.patch(recompile_limit=2):
        compiled = torch.compile(add, backend="eager", dynamic=False)
        for n in range(5):
            compiled(torch.ones(n + 2), n)
    report = session.report()
    assert (report.summary.causes, report.summary.sites) == (0, 0)
    assert (report.summary.compiles, report.summary.recompiles, report.summary.refused) == (2, 1, 1)
    (limit,) = [recompile for recompile in report.recompiles if recompile.limit]
    assert (limit.limit, limit.limit_value, limit.function) == ("recompile_limit", 2, "add")
    # Every piece of compiled code is named, and every guard of it that failed.
    assert [failure.compiled for failure in limit.failures] == ["0/1", "0/0"]
    assert [len(failure.failed) for failure in limit.failures] == [2, 2]


def test_a_program_without_a_break_has_none(compiled_call: Call) -> None:
    def plain(x: Tensor) -> Tensor:
        return x.sin() + 1

    report = compiled_call(plain, X)
    assert numbers(report) == (0, 0, 0)
    assert (report.summary.graphs, report.summary.ops) == (1, 2)
    assert not report.disagreements


def test_three_shapes_are_one_site_with_one_occurrence_per_compile() -> None:
    def breaks(x: Tensor) -> Tensor:
        x = x + 1
        graph_break()
        return x * 2

    torch._dynamo.reset()
    with fullgraph.watch() as session:
        compiled = torch.compile(breaks, backend="eager", dynamic=False)
        for size in (2, 3, 4):
            compiled(torch.ones(size))
    report = session.report()
    assert numbers(report) == (1, 1, 0)
    assert report.summary.occurrences == 3
    assert report.summary.compiles == 6
    assert report.summary.recompiles == 4


def test_a_break_in_a_library_names_it_and_your_line(compiled_call: Call) -> None:
    def talks(x: Tensor) -> Tensor:
        click.echo("", nl=False)  # leads into click
        return x + 1

    report = compiled_call(talks, X)
    assert report.summary.causes == 1
    cause = report.causes[0]
    assert cause.owner == "click"
    assert Path(cause.file).parent.name == "click"
    assert cause.via is not None
    assert (cause.via.file, cause.via.line) == (HERE, line_of("leads into click"))
    # The line of a library can be opened, so it is shown itself.
    assert cause.shown is None


def test_a_break_in_torch_names_torch_and_your_line(compiled_call: Call) -> None:
    def checks(x: Tensor) -> Tensor:
        torch.testing.assert_close(x, x)  # leads into torch
        return x + 1

    cause = compiled_call(checks, X).causes[0]
    assert cause.owner == "torch"
    assert cause.via is not None
    assert cause.via.line == line_of("leads into torch")
    # The report shows your line, and the location stays torch's.
    assert cause.shown == cause.via
    assert "torch" in Path(cause.file).parts


def test_a_break_in_the_standard_library_belongs_to_its_caller(compiled_call: Call) -> None:
    def copies(x: Tensor) -> Tensor:
        return copy.deepcopy({"x": x, "open": open})["x"] + 1  # leads into copy

    cause = compiled_call(copies, X).causes[0]
    assert cause.owner == "yours"
    assert Path(cause.file).name == "copy.py"
    assert cause.via is not None
    assert cause.via.line == line_of("leads into copy")
    assert cause.shown == cause.via


def test_a_frozen_module_is_shown_at_every_line_that_leads_to_it(compiled_call: Call) -> None:
    def checks(x: Tensor) -> Tensor:
        x = x + os.path.isdir(HERE)  # leads into genericpath
        return x + os.path.isdir(HERE + "x")  # leads there, too

    (cause,) = compiled_call(checks, X).causes
    assert "genericpath" in cause.file
    assert cause.shown is not None
    lines = {frame.line for frame in (cause.shown, *cause.also_from)}
    assert lines == {line_of("leads into genericpath"), line_of("leads there, too")}
    assert "files and folders" in cause.advice


def test_two_threads_have_the_sites_of_one() -> None:
    def breaks(x: Tensor) -> Tensor:
        x = x + 1
        graph_break()
        return x * 2

    torch._dynamo.reset()
    with fullgraph.watch() as session:
        compiled = torch.compile(breaks, backend="eager", dynamic=False)
        threads = [threading.Thread(target=compiled, args=(torch.ones(size),)) for size in (2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    report = session.report()
    assert numbers(report) == (1, 1, 0)
    assert report.summary.occurrences == 2


# Rows found since.


def test_a_generator_that_is_compiled_itself_is_one_skipped_frame(compiled_call: Call) -> None:
    def generates(x: Tensor) -> Iterator[Tensor]:
        yield x + 1

    report = compiled_call(generates, X)
    assert numbers(report) == (1, 1, 1)
    assert report.causes[0].id == "GB0003"


def test_a_break_in_a_comprehension_is_one_site(compiled_call: Call) -> None:
    def comprehends(x: Tensor) -> list[Tensor]:
        return [graph_break() or x + i for i in range(3)]

    report = compiled_call(comprehends, X)
    assert numbers(report) == (1, 1, 1)


def test_a_comprehension_over_an_iterator_is_a_cascading_break(compiled_call: Call) -> None:
    def comprehends(x: Tensor, names: dict[str, int]) -> Any:
        try:
            graph_break()
            return {key: x + value for key, value in names.items()}
        finally:
            x = x + 1

    report = compiled_call(comprehends, X, {"a": 1})
    (cause,) = report.causes
    assert cause.id == "GB0025"
    assert [site.cascade_of for site in report.sites if site.key != cause.key] == [cause.key]


def test_a_context_manager_returned_by_a_break_is_a_cascading_break(
    compiled_call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.touch()

    def opens(x: Tensor) -> Tensor:
        x = x + 1
        with open(path):
            return x + 2

    report = compiled_call(opens, X)
    assert report.summary.causes == 1
    assert [cascade.id for cascade in report.causes[0].cascades] == ["GB0142"]
    assert report.summary.sites == 2


def test_fullgraph_true_is_one_site_and_the_error_reaches_the_program(compiled_call: Call) -> None:
    torch._dynamo.reset()
    with fullgraph.watch() as session, pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(helper, backend="eager", fullgraph=True)(X)
    report = session.report()
    assert numbers(report) == (1, 1, 0)
    assert report.causes[0].raised == 1


def test_a_suppressed_error_is_a_skipped_frame_and_not_a_break() -> None:
    def broken_backend(module: Any, inputs: Any) -> Any:
        raise RuntimeError("boom")

    torch._dynamo.reset()
    with fullgraph.watch() as session, torch._dynamo.config.patch(suppress_errors=True):
        torch.compile(lambda x: x + 1, backend=broken_backend)(X)
    report = session.report()
    assert numbers(report) == (0, 0, 1)
    assert "boom" in report.skipped_frames[0].reason


def test_module_compile_on_a_module_of_torch_is_a_skipped_frame() -> None:
    torch._dynamo.reset()
    with fullgraph.watch() as session:
        module = torch.nn.Sequential(torch.nn.ReLU())
        module.compile(backend="eager")
        module(X)
    report = session.report()
    assert numbers(report) == (0, 0, 1)
    assert report.skipped_frames[0].via is not None


def test_a_call_under_force_eager_is_a_stance_and_nothing_else() -> None:
    torch._dynamo.reset()
    with fullgraph.watch() as session, torch.compiler.set_stance("force_eager"):
        torch.compile(helper, backend="eager")(X)
    report = session.report()
    assert numbers(report) == (0, 0, 0)
    assert [stance.stance for stance in report.stances] == ["force_eager"]


def test_a_break_under_nested_graph_breaks_is_one_occurrence(compiled_call: Call) -> None:
    def calls(x: Tensor) -> Tensor:
        return helper(x) + 1

    with torch._dynamo.config.patch(nested_graph_breaks=True):
        report = compiled_call(calls, X)
    assert numbers(report) == (1, 1, 0)
    assert report.summary.occurrences == 1
