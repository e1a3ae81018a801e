"""Run an example of the catalog on the installed torch and check every claim of its file."""

from __future__ import annotations

import importlib
import io
import logging
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from types import ModuleType
from typing import Any, NamedTuple

import torch

from fullgraph.capture.api import watch
from fullgraph.capture.dynamo_hooks import has_setting, patch_config, reset_dynamo
from fullgraph.catalog.fix_decorator import FixFacts
from fullgraph.catalog.parse import CatalogError
from fullgraph.catalog.verdicts import Verdict
from fullgraph.model.events import Break, Event, Recompile
from fullgraph.model.report import Report
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import CallOutcome, observe_call

# Reaching the recompile limit is not a graph break in a session, but the registry has an entry.
RECOMPILE_LIMIT = "GB0039"


class VerificationResult(NamedTuple):
    """The result of one example; `failures` is empty if every claim of the file is true."""

    id: str
    fixes: tuple[str, ...]
    failures: tuple[str, ...]
    # The report of the example's graph break.
    report: Report
    verdict: Verdict


class _Break(NamedTuple):
    """What happened to `breaks` in one way of compiling it."""

    ids: list[str | None]
    raised: bool
    failures: list[str]


def verify(key: str) -> VerificationResult:
    """Run the example of an entry, or a variant, and its fixes; return which claims failed."""
    module = _import(key)
    # torch's log handler writes to the real stderr, which redirect_stderr does not replace.
    logger = logging.getLogger("torch._dynamo")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return _verify(key, module)
    finally:
        logger.setLevel(level)
        reset_dynamo()


def _import(key: str) -> ModuleType:
    try:
        return importlib.import_module(f"fullgraph.catalog.entries.{key.lower()}")
    except ModuleNotFoundError as error:
        raise CatalogError(
            f"the example of {key} needs {error.name}: pip install {error.name}"
        ) from None


def _verify(key: str, module: ModuleType) -> VerificationResult:
    identifier = key.partition("_")[0]
    # A process group may live as long as the inputs that were made with it.
    inputs = _make_inputs(module)
    eager = _call(module.breaks, inputs)
    failures = _check_eager(module, eager)
    ways: list[_Break] = []
    with patch_config(getattr(module, "CONFIG", {})):
        if not getattr(module, "BY_DEFAULT", False):
            ways.append(_check_strict(identifier, module))
        report, found = _check_default(identifier, module, eager)
        if not getattr(module, "STRICT_ONLY", False):
            ways.append(found)
    failures += [failure for way in ways for failure in way.failures]
    fixes = fixes_of(module)
    of_fixes = {name: _check_fix(module, each, eager) for name, each in fixes.items()}
    verdict = _verdict(identifier, ways, failures, [name for name in fixes if of_fixes[name]])
    if not fixes and not getattr(module, "INSTEAD", ""):
        failures.append("it has neither a fix nor an INSTEAD")
    failures += _unexplained(report)
    failures += [f"{name}: {failure}" for name, found in of_fixes.items() for failure in found]
    return VerificationResult(key, tuple(fixes), tuple(failures), report, verdict)


def _verdict(
    identifier: str, ways: list[_Break], failures: list[str], broken_fixes: list[str]
) -> Verdict:
    if not failures:
        return Verdict("fix_fails", tuple(broken_fixes)) if broken_fixes else Verdict("holds")
    ids = {each for way in ways for each in way.ids}
    if identifier in ids:
        return Verdict("differs")
    if ids or any(way.raised for way in ways):
        return Verdict("other_break")
    return Verdict("no_break")


def fixes_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the functions of an example that are marked with `@fix`, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(getattr(value, "fullgraph_fix", None), FixFacts)
    }


def _check_eager(module: ModuleType, eager: CallOutcome) -> list[str]:
    """Check that `breaks` raises in eager mode only if the file says so."""
    expected = bool(getattr(module, "EAGER_RAISES", False))
    if eager.raised and not expected:
        return [f"breaks raises {_error(eager)} in eager mode; EAGER_RAISES is not set"]
    if expected and not eager.raised:
        return ["breaks does not raise in eager mode, but EAGER_RAISES is set"]
    return []


def _check_strict(identifier: str, module: ModuleType) -> _Break:
    """Check that `breaks` raises exactly this entry with fullgraph=True."""
    reset_dynamo()
    compiled = _compile(module, module.breaks, fullgraph=True)
    with watch() as session:
        outcome = _call(compiled, _make_inputs(module))
    ids = _ids(session.session().events)
    failures = []
    if not outcome.raised:
        failures = ["compiled with fullgraph=True it raises nothing; BY_DEFAULT may be missing"]
    elif identifier not in ids:
        failures = [f"compiled with fullgraph=True it raises {ids or _error(outcome)}"]
    return _Break(ids, bool(outcome.raised), failures)


def _check_default(
    identifier: str, module: ModuleType, eager: CallOutcome
) -> tuple[Report, _Break]:
    """Check that `breaks` has this break by default and does the same as in eager mode."""
    reset_dynamo()
    with watch() as session:
        outcome = _call(_compile(module, module.breaks), _make_inputs(module))
    ids = _ids(session.session().events)
    report = session.report()
    failures = []
    # An exception that eager mode raises too can end the call before anything is compiled.
    if identifier not in ids and not eager.raised:
        failures.append(f"compiled by default it breaks with {ids}")
    failures += [
        f"compiled by default it differs from eager mode: {problem}"
        for problem in _problems(eager, outcome)
    ]
    return report, _Break(ids, bool(outcome.raised and not eager.raised), failures)


def _unexplained(report: Report) -> list[str]:
    """Return what the report itself could not capture or explain."""
    differences = [f"{each.what}: {each.why}" for each in report.disagreements if each.unexplained]
    return differences + [problem.message for problem in report.problems]


def _ids(events: Iterable[Event]) -> list[str | None]:
    """Return the ids of the registry entries in `events`, each once."""
    ids: dict[str | None, None] = {}
    for event in events:
        if isinstance(event, Break):
            ids.update(dict.fromkeys(reason.id for reason in event.reasons))
        elif isinstance(event, Recompile) and event.limit:
            ids[RECOMPILE_LIMIT] = None
    return list(ids)


def _check_fix(module: ModuleType, function: Callable[..., Any], eager: CallOutcome) -> list[str]:
    """Check that a fix is one graph, does the same as `breaks`, and does not recompile."""
    facts: FixFacts = function.fullgraph_fix  # type: ignore[attr-defined]
    # If `breaks` raises in eager mode, the fix is compared with itself in eager mode.
    plain = _with_moved_parts(function, facts)
    expected = _call(plain, _make_inputs(module)) if eager.raised else eager
    reset_dynamo()
    if unknown := [name for name in facts.settings if not has_setting(name)]:
        return [f"this torch does not have the setting {name}" for name in unknown]
    with patch_config(facts.settings), watch() as session:
        compiled = _with_moved_parts(_compile(module, function, fullgraph=True), facts)
        first_inputs = _make_inputs(module)
        first = _call(compiled, first_inputs)
        compiles = session.summary.compiles
        second = _call(compiled, _make_inputs(module))
    if first.raised:
        return [f"compiled with fullgraph=True it raises {_error(first)}"]
    problems = _problems(expected, first, exact=facts.safety == "exact")
    failures = [f"it differs from breaks in eager mode: {problem}" for problem in problems]
    failures += [f"a second call differs: {problem}" for problem in _problems(first, second)]
    if session.summary.compiles != compiles or session.summary.refused:
        failures.append("a second call with the same inputs recompiles")
    if not compiles:
        failures.append("no part of it is compiled")
    return failures


def _problems(before: CallOutcome, after: CallOutcome, *, exact: bool = True) -> list[str]:
    """Return how two outcomes differ; Dynamo may change the message of an exception."""
    return compare_outcomes(before, after, exact=exact, same_error="type").problems


def _error(outcome: CallOutcome) -> str:
    first_line = next(iter(outcome.message.splitlines()), "")
    return f"{outcome.raised}: {first_line[:200]}"


def _with_moved_parts(function: Callable[..., Any], facts: FixFacts) -> Callable[..., Any]:
    """Return the fix together with the code that it moves out of the compiled function."""

    def whole(*inputs: Any) -> Any:
        arguments = facts.before(*inputs) if facts.before else inputs
        result = function(*(arguments if isinstance(arguments, tuple) else (arguments,)))
        return facts.after(result) if facts.after else result

    return whole


def _compile(module: ModuleType, function: Callable[..., Any], **more: Any) -> Callable[..., Any]:
    options = {"backend": "eager", **getattr(module, "COMPILE", {}), **more}
    compiled: Callable[..., Any] = torch.compile(function, **options)
    return compiled


def _make_inputs(module: ModuleType) -> tuple[Any, ...]:
    torch.manual_seed(0)
    inputs = module.inputs()
    return inputs if isinstance(inputs, tuple) else (inputs,)


def _call(function: Callable[..., Any], inputs: tuple[Any, ...]) -> CallOutcome:
    outcome = observe_call(function, inputs, {})
    # A fix may print the same facts in another form, and an example may print while it is traced.
    outcome.output = []
    return outcome
