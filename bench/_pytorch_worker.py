"""Run the tests of one file of PyTorch's `test/dynamo`, with or without watching each of them.

    python -m bench._pytorch_worker FILE OUTPUT [--watch] [--seconds N] [--only PATTERN]...

Tests that OUTPUT already has are not run again, so that a worker can continue where another one
ended. `CompileCounter` and `convert_frame` are observed in both modes; only watching differs.
"""

from __future__ import annotations

import argparse
import faulthandler
import inspect
import re
import sys
import time
import unittest
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import torch
import torch._dynamo.testing
from torch._dynamo import convert_frame
from torch._guards import CompileContext

import fullgraph
from bench._pytorch_records import (
    PASSED,
    Counts,
    Facts,
    Finished,
    Record,
    Started,
    append,
    matches,
    read,
)
from fullgraph.model.report import Report

_LINK = re.compile(r"gb/gb(\d{4})\.html")
_UNEXPLAINED = re.compile(r"cannot explain|unexplained")
_TORCH = str(Path(torch.__file__).parent)


class _Observer:
    """Counts what happens in torch while a test runs."""

    def __init__(self) -> None:
        # Compiles that may break; those of the whole file count for each of its tests.
        self.breakable = 0
        # For each compile, the operations of the graph that Dynamo gave to a counter.
        self.counted: list[tuple[CompileContext | None, int]] = []
        self.session = fullgraph.watch()
        convert_frame.convert_frame = self._counting_compiles(convert_frame.convert_frame)
        for kind in (
            torch._dynamo.testing.CompileCounter,
            torch._dynamo.testing.CompileCounterWithBackend,
        ):
            kind.__call__ = self._counting_graphs(kind.__call__)

    def _counting_compiles(self, original: Any) -> Any:
        def convert(*args: Any, **kwargs: Any) -> Any:
            self.breakable += 1
            return original(*args, **kwargs)

        return convert

    def _counting_graphs(self, original: Any) -> Any:
        def call(counter: Any, module: Any, inputs: Any) -> Any:
            ops = sum("call" in node.op for node in module.graph.nodes)
            compiled = original(counter, module, inputs)
            # A test may call a counter itself, from a backend of its own.
            if sys._getframe(1).f_code.co_filename.startswith(_TORCH):
                self._count(ops)
            return compiled

        return call

    def _count(self, ops: int) -> None:
        context = CompileContext.try_get()
        # A second graph of the same compile: Dynamo discarded the first one and started again.
        if context is not None and self.counted and self.counted[-1][0] is context:
            self.counted.pop()
        self.counted.append((context, ops))

    def start(self, breakable: int) -> None:
        """Forget the test before."""
        self.breakable = breakable
        self.counted.clear()
        self.session = fullgraph.watch()

    def compile_ids(self) -> set[str]:
        """Return the ids of the compiles whose graphs were counted."""
        return {str(context.compile_id) for context, _ in self.counted if context is not None}


class _Result(unittest.TestResult):
    """Watches each test from its start to its end, and writes its record."""

    def __init__(self, output: Path, watch: bool, seconds: float, observer: _Observer) -> None:
        super().__init__()
        self._output = output
        self._watch = watch
        self._seconds = seconds
        self._observer = observer
        self._breakable_in_file = observer.breakable

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().startTest(test)
        append(self._output, Started(test.id()))
        self._outcome, self._error = PASSED, ""
        self._observer.start(self._breakable_in_file)
        self._started = time.perf_counter()
        # Ends the process even if the test hangs in C++. A test may have replaced sys.stderr.
        faulthandler.dump_traceback_later(self._seconds, exit=True, file=2)
        if self._watch:
            self._observer.session.__enter__()

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        facts = None
        if self._watch:
            self._observer.session.__exit__(None, None, None)
            facts = self._facts(test)
        faulthandler.cancel_dump_traceback_later()
        seconds = round(time.perf_counter() - self._started, 3)
        append(self._output, Record(test.id(), self._outcome, seconds, self._error, facts))

    def _facts(self, test: unittest.TestCase) -> Facts | None:
        """Return the facts of the report; None if there is no report."""
        try:
            report = self._observer.session.report()
            str(report)
        except Exception as error:
            self._error = f"the report fails: {type(error).__name__}: {error}"
            return None
        return _facts(report, test, self._observer)

    def addError(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        self._end("failed", err[1])

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        self._end("failed", err[1])

    def addSubTest(self, test: unittest.TestCase, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            self._end("failed", err[1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self._end("skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        # An expected failure is as good as a pass: it must stay one.
        self._end(PASSED, "")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self._end("failed", "unexpected success")

    def _end(self, outcome: str, error: object) -> None:
        self._outcome = outcome
        self._error = _first_line(error) if isinstance(error, BaseException) else str(error)


def main() -> None:
    """Run the tests of the file that the output does not have yet."""
    options = _options()
    # The folder of the tests is not a package for all of them; they import each other by name.
    sys.path.insert(0, str(options.file.parent))
    observer = _Observer()
    try:
        module = import_module(options.file.stem)
    except (Exception, unittest.SkipTest) as error:
        append(options.output, Finished(_first_line(error)))
        return
    done = read(options.output).records
    tests = [
        test
        for test in _flatten(unittest.defaultTestLoader.loadTestsFromModule(module))
        if test.id() not in done and matches(options.only, test.id())
    ]
    result = _Result(options.output, options.watch, options.seconds, observer)
    unittest.TestSuite(tests).run(result)
    append(options.output, Finished())


def _first_line(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    lines = str(error).strip().splitlines()
    return ": ".join([type(error).__name__, *lines[:1]])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    # Some tests, and torch's own test utilities, read the arguments of the process.
    sys.argv = [str(options.file)]
    return options


def _flatten(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _flatten(each)
        else:
            yield each


def _facts(report: Report, test: unittest.TestCase, observer: _Observer) -> Facts:
    ids = observer.compile_ids()
    # A compile after a reset has the id of an earlier one, and a suffix in the report.
    graphs = [graph for graph in report.graphs if graph.compile.partition("~")[0] in ids]
    return Facts(
        compiles=report.summary.compiles,
        problems=tuple(problem.message for problem in report.problems),
        alarms=tuple(_alarms(report)),
        unexplained=tuple(
            f"{each.what}: {each.ours}, torch {each.theirs}: {each.why}"
            for each in report.disagreements
            if _UNEXPLAINED.search(each.why)
        ),
        ids=tuple(sorted(set(_ids(msgspec.to_builtins(report))))),
        expected_ids=tuple(sorted(_expected_ids(test))),
        only_fullgraph=observer.breakable == 0,
        ours=Counts(len(graphs), sum(graph.ops for graph in graphs)),
        theirs=Counts(len(observer.counted), sum(ops for _, ops in observer.counted)),
    )


def _alarms(report: Report) -> Iterator[str]:
    for site in report.sites:
        if site.occurrences > site.raised:
            yield f"{site.id} {site.type} at {Path(site.file).name}:{site.line}"
    for frame in report.skipped_frames:
        yield f"skipped frame {frame.function} at {Path(frame.file).name}:{frame.line}"


def _ids(value: Any) -> Iterable[str]:
    """Yield the registry ids of every part of a report."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str):
            yield value["id"]
        for each in value.values():
            yield from _ids(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _ids(each)


def _expected_ids(test: unittest.TestCase) -> set[str]:
    """Return the ids of the breaks that the source of a test links to."""
    method = getattr(type(test), test._testMethodName)
    try:
        source = inspect.getsource(inspect.unwrap(method))
    except (OSError, TypeError):
        return set()
    return {f"GB{number}" for number in _LINK.findall(source)}


if __name__ == "__main__":
    main()
