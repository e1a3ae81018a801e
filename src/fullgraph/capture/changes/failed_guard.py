"""One guard that failed, and the change that it stands for."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from fullgraph.capture.guard_lines import line_of_guard, without_comment
from fullgraph.capture.guard_sources import FrameFacts, describe_source, is_in_module
from fullgraph.model.events import ChangeKind, GuardChange

# The longest repr of a value.
_LONGEST_VALUE = 60
PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None))
KINDS: dict[type, ChangeKind] = {bool: "bool", int: "int", float: "float", str: "str"}


class FailedGuard(NamedTuple):
    """A guard that failed: torch's type of it, Dynamo's expression, its text and the value now."""

    type: str
    source: str
    part: str
    value: object


def new_change(
    guard: FailedGuard,
    frame: FrameFacts,
    kind: ChangeKind,
    before: str,
    now: str,
    dim: int | None = None,
    note: str = "",
    source: str = "",
) -> GuardChange:
    """Return a change of the value of a guard, or of `source` if that is another one."""
    source = source or guard.source
    facts = describe_source(source, frame)
    return GuardChange(
        kind=kind,
        place=facts.place,
        source=source,
        name=facts.name,
        before=before,
        now=now,
        dim=dim,
        guard=without_comment(guard.part),
        holder=facts.holder,
        line=line_of_guard(guard.part, frame.code.co_filename),
        note=note,
        in_module=is_in_module(source, frame),
    )


def evaluated_text(expression: str, frame: FrameFacts) -> str:
    """Return the value of an expression as text; empty if it has none."""
    try:
        return describe(frame.evaluate(expression))
    except Exception:
        return ""


def describe(value: object) -> str:
    """Return a plain value as Python writes it, and of anything else only its class."""
    if type(value) in PLAIN_TYPES:
        return shortened(repr(value))
    if isinstance(value, import_module("torch").Tensor):
        return "a tensor"
    return article(type(value).__name__)


def article(name: str) -> str:
    """Return a word with its article."""
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def shortened(text: str) -> str:
    """Return the start of a text that is long."""
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
