"""Runs a function twice with the same arguments and reports what shows that it is not pure."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from fullgraph.fix.purity.external_access import external_accesses
from fullgraph.fix.purity.findings import Finding, FindingKind
from fullgraph.fix.record.recorder import CallContext, clone_inputs
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import CallOutcome, capture_output, flattened

# Globals are compared to this depth; deeper data of a large program would take too long.
_GLOBALS_DEPTH = 3


@dataclass
class DynamicResult:
    """The findings of two runs, and the name of the exception that the first run raised."""

    findings: list[Finding]
    raised: str


def dynamic_findings(
    function: Callable[..., Any], arguments: tuple[Any, ...], namespace: dict[str, Any]
) -> DynamicResult:
    """Run the function twice with copies of the arguments and return the findings.

    `namespace` holds the globals of the function's file.
    """
    random_state = _random_state()
    globals_before = _flattened_globals(namespace)
    first, accesses = _run(function, arguments)
    draws_random_numbers = not _same_state(random_state, _random_state())
    globals_after = _flattened_globals(namespace)
    second, _ = _run(function, arguments)

    findings = [_finding("effect", f"produces output: {line!r}") for line in first.output[:1]]
    findings += [_finding("effect", access) for access in dict.fromkeys(accesses)]
    if draws_random_numbers:
        findings.append(_finding("changing", "draws random numbers"))
    if _differ(flattened(arguments), first.inputs):
        findings.append(_finding("input", "mutates an argument"))
    findings += [
        _finding("state", f"mutates the global {name}")
        for name in _changed_names(globals_before, globals_after)
    ]
    # Different output alone is no second finding.
    second.output = first.output
    if problems := compare_outcomes(first, second, exact=True).problems:
        findings.append(_finding("changing", f"the second run differs: {problems[0]}"))
    return DynamicResult(findings, first.raised)


def _finding(kind: FindingKind, what: str) -> Finding:
    return Finding(kind, 0, what, by="run")


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[CallOutcome, list[str]]:
    """Return the outcome of one call, and its accesses to files, processes and the network."""
    outcome = CallOutcome()
    copies = clone_inputs(arguments)
    with external_accesses() as accesses, capture_output() as output:
        try:
            outcome.outputs = flattened(function(*copies))
        except Exception as error:
            outcome.raised, outcome.message = type(error).__name__, str(error)
    outcome.inputs = flattened(copies)
    outcome.output = output
    return outcome, accesses


def _flattened_globals(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return the globals that hold data, not functions, classes or modules, as flat leaves."""
    data = {
        name: value
        for name, value in namespace.items()
        if not name.startswith("__") and not callable(value) and type(value) is not type(sys)
    }
    return flattened(data, deepest=_GLOBALS_DEPTH)


def _changed_names(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names of the globals that differ."""
    paths = [
        path
        for path in sorted({*before, *after})
        if path not in before or path not in after or _differ({"": before[path]}, {"": after[path]})
    ]
    return list(dict.fromkeys(path.lstrip(".").split(".")[0].strip("':") for path in paths))


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    outcomes = CallOutcome(outputs=one), CallOutcome(outputs=other)
    return bool(compare_outcomes(*outcomes, exact=True).problems)


def _random_state() -> tuple[Any, ...]:
    context = CallContext.current()
    return context.rng, context.python_rng, context.numpy_rng


def _same_state(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return torch.equal(one[0], other[0]) and repr(one[1:]) == repr(other[1:])
