"""Runs an example of the catalog and says whether it does what it claims, on the torch at hand."""

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
from fullgraph.catalog.fix_decorator import FixFacts
from fullgraph.catalog.parse import CatalogError
from fullgraph.model.events import Break, Event, Recompile
from fullgraph.model.report import Report

RECOMPILE_LIMIT = "GB0039"


class Verdict(NamedTuple):
    """What happened; `failures` is empty when everything that the file claims is true."""

    id: str
    fixes: tuple[str, ...]
    failures: tuple[str, ...]
    # The break as it happened, for showing.
    report: Report | None


class _Outcome(NamedTuple):
    """A result, or the error that came instead; with what became of the inputs."""

    value: Any
    error: BaseException | None
    inputs: Any

    def describe(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}: {str(self.error).splitlines()[0][:200]}"
        return f"{self.value!r}"[:200]


def verify(identifier: str) -> Verdict:
    module = _import(identifier)
    # torch's handler writes to the real standard error, which redirecting does not reach.
    logger = logging.getLogger("torch._dynamo")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return _verify(identifier, module)
    finally:
        logger.setLevel(level)
        torch._dynamo.reset()


def _import(identifier: str) -> ModuleType:
    try:
        return importlib.import_module(f"fullgraph.catalog.entries.{identifier.lower()}")
    except ModuleNotFoundError as error:
        raise CatalogError(
            f"the example of {identifier} needs {error.name}: pip install {error.name}"
        ) from None


def _verify(identifier: str, module: ModuleType) -> Verdict:
    failures: list[str] = []
    eager = _call(module.breaks, module.inputs)
    raises = bool(getattr(module, "EAGER_RAISES", False))
    if (eager.error is not None) != raises:
        failures.append(f"in eager, breaks gives {eager.describe()}")
    report = None
    with torch._dynamo.config.patch(**getattr(module, "CONFIG", {})):
        if not getattr(module, "BY_DEFAULT", False):
            failures += _check_strict(identifier, module)
        report, found = _check_default(identifier, module, eager)
        if not getattr(module, "STRICT_ONLY", False):
            failures += found
    fixes = fixes_of(module)
    if not fixes and not getattr(module, "INSTEAD", ""):
        failures.append("it has neither a fix nor an INSTEAD")
    for name, function in fixes.items():
        failures += [f"{name}: {failure}" for failure in _check_fix(module, function, eager)]
    return Verdict(identifier, tuple(fixes), tuple(failures), report)


def fixes_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(getattr(value, "fullgraph_fix", None), FixFacts)
    }


def _check_strict(identifier: str, module: ModuleType) -> list[str]:
    """With fullgraph=True it raises exactly this entry."""
    torch._dynamo.reset()
    compiled = _compile(module, module.breaks, fullgraph=True)
    with watch() as session:
        outcome = _call(compiled, module.inputs)
    ids = _ids(session.session().events)
    if outcome.error is None:
        return ["compiled with fullgraph=True it raises nothing (BY_DEFAULT, perhaps?)"]
    if identifier not in ids:
        return [f"compiled with fullgraph=True it raises {ids or outcome.describe()}"]
    return []


def _check_default(
    identifier: str, module: ModuleType, eager: _Outcome
) -> tuple[Report, list[str]]:
    """By default it breaks with this entry and does what eager does."""
    torch._dynamo.reset()
    with watch() as session:
        outcome = _call(_compile(module, module.breaks), module.inputs)
    report = session.report()
    ids = _ids(session.session().events)
    failures = []
    # An error that eager raises too can end the program before anything is compiled.
    if identifier not in ids and eager.error is None:
        failures.append(f"compiled by default it breaks with {ids}")
    if not _same(eager, outcome):
        failures.append(
            f"compiled by default it gives {outcome.describe()}, in eager {eager.describe()}"
        )
    return report, failures


def _ids(events: Iterable[Event]) -> list[str | None]:
    """The entries that were met; a limit is no break in our ledger, but it has an entry."""
    ids: dict[str | None, None] = {}
    for event in events:
        if isinstance(event, Break):
            ids.update(dict.fromkeys(reason.id for reason in event.reasons))
        elif isinstance(event, Recompile) and event.limit:
            ids[RECOMPILE_LIMIT] = None
    return list(ids)


def _check_fix(module: ModuleType, function: Callable[..., Any], eager: _Outcome) -> list[str]:
    facts: FixFacts = function.fullgraph_fix  # type: ignore[attr-defined]
    # Where breaks itself fails in eager, the fix in eager is what it has to equal.
    plain = _with_what_moved(function, facts)
    expected = eager if eager.error is None else _call(plain, module.inputs)
    torch._dynamo.reset()
    failures: list[str] = []
    with torch._dynamo.config.patch(**facts.settings), watch() as session:
        whole = _with_what_moved(_compile(module, function, fullgraph=True), facts)
        first = _call(whole, module.inputs)
        compiles = session.summary.compiles
        second = _call(whole, module.inputs)
    if first.error is not None:
        return [f"compiled with fullgraph=True it raises {first.describe()}"]
    if not _same(expected, first, exact=facts.safety == "exact"):
        failures.append(f"it gives {first.describe()}, not {expected.describe()}")
    if not _same(first, second):
        failures.append(f"called again it gives {second.describe()}")
    if session.summary.compiles != compiles or session.summary.recompiles:
        failures.append("it is compiled again for the same inputs")
    if not compiles:
        failures.append("nothing of it is compiled")
    return failures


def _with_what_moved(function: Callable[..., Any], facts: FixFacts) -> Callable[..., Any]:
    """The fix as the program would call it, with what was moved out of the compiled function."""

    def whole(*inputs: Any) -> Any:
        arguments = facts.before(*inputs) if facts.before else inputs
        result = function(*(arguments if isinstance(arguments, tuple) else (arguments,)))
        return facts.after(result) if facts.after else result

    return whole


def _compile(module: ModuleType, function: Callable[..., Any], **more: Any) -> Callable[..., Any]:
    options = {"backend": "eager", **getattr(module, "COMPILE", {}), **more}
    compiled: Callable[..., Any] = torch.compile(function, **options)
    return compiled


def _call(function: Callable[..., Any], make_inputs: Callable[[], Any]) -> _Outcome:
    torch.manual_seed(0)
    inputs = make_inputs()
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    try:
        return _Outcome(function(*arguments), None, inputs)
    except Exception as error:
        return _Outcome(None, error, inputs)


def _same(one: _Outcome, other: _Outcome, *, exact: bool = True) -> bool:
    if one.error is not None or other.error is not None:
        return type(one.error) is type(other.error)
    return _equal(one.value, other.value, exact) and _equal(one.inputs, other.inputs, exact)


def _equal(one: Any, other: Any, exact: bool) -> bool:
    if one is other:
        return True
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return _equal_tensors(one, other, exact)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k], exact) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_equal(a, b, exact) for a, b in pairs)
    if isinstance(one, float) and isinstance(other, float):
        return (
            one == other
            or (one != one and other != other)
            or (not exact and abs(one - other) <= 1e-5 * max(1.0, abs(one)))
        )
    if type(one) is type(other) and "__eq__" not in _members(type(one)):
        # Objects without an equality of their own: compare what they hold.
        return _equal(getattr(one, "__dict__", {}), getattr(other, "__dict__", {}), exact)
    try:
        return bool(one == other)
    except (RuntimeError, ValueError):
        # An equality that is itself an array or a tensor: compare what is shown.
        return repr(one) == repr(other)


def _members(kind: type) -> set[str]:
    return {name for base in kind.__mro__[:-1] for name in vars(base)}


def _equal_tensors(one: torch.Tensor, other: torch.Tensor, exact: bool) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype or one.layout != other.layout:
        return False
    if one.layout != torch.strided:
        one, other = one.to_dense(), other.to_dense()
    one, other = one.detach(), other.detach()
    if exact:
        same = torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))
        return same and bool(torch.equal(one.isnan(), other.isnan()))
    return bool(torch.allclose(one, other, equal_nan=True))
