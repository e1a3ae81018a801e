"""Whether a function is pure, found by running it twice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from fullgraph.fix.purity.static import Finding, FindingKind
from fullgraph.fix.record.recorder import Modes, cloned
from fullgraph.outcomes.observe import Outcome, compared, flattened, listening

# What Python's audit events say about the outside.
_OUTSIDE = ("open", "socket.", "subprocess.", "os.", "shutil.", "urllib.", "ctypes.dlopen")
_HARMLESS_FILES = (".py", ".pyc", ".so", ".pyd", ".json")


@dataclass
class Seen:
    findings: list[Finding]
    # The exception, where both runs end in one.
    raised: str


def findings_of(
    function: Callable[..., Any], arguments: tuple[Any, ...], namespace: dict[str, Any]
) -> Seen:
    """What two runs with the same arguments show."""
    random_before = _random_state()
    globals_before = flattened(_values(namespace), deepest=3)
    first, opened = _run(function, arguments)
    drew = not _same_state(random_before, _random_state())
    globals_after = flattened(_values(namespace), deepest=3)
    second, _ = _run(function, arguments)
    before = flattened(arguments)
    found = [_finding("effect", f"it says {line!r}") for line in first.said[:1]]
    found += [_finding("effect", f"it {what}") for what in dict.fromkeys(opened)]
    if drew:
        found.append(_finding("changing", "it draws random numbers"))
    if _differ(before, first.inputs):
        found.append(_finding("input", "an argument is not the same after the call"))
    found += [
        _finding("state", f"the global {name} is not the same after the call")
        for name in _changed(globals_before, globals_after)
    ]
    second.said = first.said
    if problems := compared(first, second, exact=True).problems:
        found.append(_finding("changing", f"the second run differs: {problems[0]}"))
    return Seen(found, first.raised)


def _finding(kind: FindingKind, what: str) -> Finding:
    return Finding(kind, 0, what, by="run")


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Outcome, list[str]]:
    outcome = Outcome()
    copies = cloned(arguments)
    with _watching() as opened, listening() as said:
        try:
            outcome.outputs = flattened(function(*copies))
        except Exception as error:
            outcome.raised, outcome.message = type(error).__name__, str(error)
    outcome.inputs = flattened(copies)
    outcome.said = said
    return outcome, opened


def _values(namespace: dict[str, Any]) -> dict[str, Any]:
    """The globals that hold data."""
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("__") and not callable(value) and type(value) is not type(sys)
    }


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(compared(Outcome(outputs=one), Outcome(outputs=other), exact=True).problems)


def _changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    paths = [
        path
        for path in sorted({*before, *after})
        if path not in before or path not in after or _differ({"": before[path]}, {"": after[path]})
    ]
    return list(dict.fromkeys(path.lstrip(".").split(".")[0].strip("':") for path in paths))


def _random_state() -> tuple[Any, ...]:
    modes = Modes.current()
    return modes.rng, modes.python_rng, modes.numpy_rng


def _same_state(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return torch.equal(one[0], other[0]) and repr(one[1:]) == repr(other[1:])


# An audit hook stays for the rest of the process, so there is one, which mostly does nothing.
_listeners: list[list[str]] = []
_installed: list[bool] = []


@contextmanager
def _watching() -> Iterator[list[str]]:
    """Files, processes and connections that are opened in a block."""
    if not _installed:
        sys.addaudithook(_on_event)
        _installed.append(True)
    opened: list[str] = []
    _listeners.append(opened)
    try:
        yield opened
    finally:
        _listeners.remove(opened)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listeners or not event.startswith(_OUTSIDE):
        return
    target = str(arguments[0]) if arguments else ""
    if event == "open" and target.endswith(_HARMLESS_FILES) and arguments[1:2] in (("r",), ("rb",)):
        return
    what = f"opens {target}" if event == "open" else f"does {event} {target}".rstrip()
    _listeners[-1].append(what)
