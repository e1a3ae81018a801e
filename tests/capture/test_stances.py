"""`torch.compiler.set_stance`: the report says that it was used, where, and what it does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

import fullgraph
from fullgraph.model.report import Report, load_report
from tests.conftest import Cli

X = torch.ones(4)


@pytest.fixture(autouse=True)
def _default_stance() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch.compiler.set_stance("default")


@torch.compile(backend="eager")
def compiled(x: Tensor) -> Tensor:
    return x.sin()


def line_of(text: str) -> int:
    """Return the first line of this file that contains `text`."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def stances_of(report: Report) -> list[tuple[str, int | None]]:
    return [(each.stance, each.caller.line if each.caller else None) for each in report.stances]


def test_a_stance_that_is_set_by_a_call() -> None:
    with fullgraph.watch() as session:
        torch.compiler.set_stance("force_eager")  # by a call
        compiled(X)
        torch.compiler.set_stance("default")
    report = session.report()
    assert stances_of(report) == [("force_eager", line_of("# by a call"))]
    text = " ".join(str(report).split())
    assert 'nothing was compiled; torch.compiler.set_stance("force_eager") is used' in text
    assert f"test_stances.py:{line_of('# by a call')} compiled functions run in eager mode" in text


def test_a_stance_of_a_with_block_is_one_finding_for_its_line() -> None:
    with fullgraph.watch() as session:
        compiled(X)
        for size in (2, 3):
            with torch.compiler.set_stance("eager_on_recompile"):  # a block
                compiled(torch.ones(size))
    report = session.report()
    assert stances_of(report) == [("eager_on_recompile", line_of("# a block"))]
    assert report.summary.graphs == 1
    text = " ".join(str(report).split())
    assert "1 graph, 1 op compiled" in text
    assert "calls that need a new compile run in eager mode while it is set" in text


def test_a_stance_of_a_decorator_is_one_finding_for_its_line() -> None:
    with fullgraph.watch() as session:

        @torch.compiler.set_stance("force_eager")  # a decorator
        @inspect.unwrap
        def decorated(x: Tensor) -> Tensor:
            return compiled(x)

        decorated(X)
        decorated(X)
    assert stances_of(session.report()) == [("force_eager", line_of("# a decorator"))]


def test_a_decorator_from_before_the_capture_is_found_when_it_is_used() -> None:
    @torch.compiler.set_stance("force_eager")
    def decorated(x: Tensor) -> Tensor:
        return compiled(x)

    with fullgraph.watch() as session:
        decorated(X)  # the use
    assert stances_of(session.report()) == [("force_eager", line_of("# the use"))]


def test_a_stance_that_was_set_before_the_capture() -> None:
    torch.compiler.set_stance("eager_then_compile")
    with fullgraph.watch() as session:
        compiled(X)
    report = session.report()
    assert stances_of(report) == [("eager_then_compile", None)]
    assert "the first call of a compiled function runs in eager mode" in " ".join(
        str(report).split()
    )


def test_a_backend_for_all_functions_is_a_stance() -> None:
    with fullgraph.watch() as session, torch.compiler.set_stance(force_backend="aot_eager"):
        compiled(X)
    (stance,) = session.report().stances
    assert stance.call == 'torch.compiler.set_stance(force_backend="aot_eager")'
    assert {graph.backend for graph in session.report().graphs} == {"aot_eager"}


def test_the_default_stance_is_no_finding() -> None:
    with fullgraph.watch() as session, torch.compiler.set_stance("default"):
        compiled(X)
    assert session.report().stances == ()


def test_run_and_a_saved_report_name_the_line(warm_cli: Cli) -> None:
    (warm_cli.folder / "script.py").write_text(
        "import torch\n"
        "f = torch.compile(lambda x: x + 1, backend='eager')\n"
        "with torch.compiler.set_stance('force_eager'):\n"
        "    f(torch.ones(3))\n"
    )
    result = warm_cli("run", "--format", "json", "-o", "report.json", "script.py")
    assert result.returncode == 0
    report = load_report(warm_cli.folder / "report.json")
    assert stances_of(report) == [("force_eager", 3)]
    assert "set_stance" in warm_cli("report").stdout
