"""What an answer claims and what can be checked of it; one file per kind of claim.

A file such as `checks/lines.py` has

    ORDER   where its checks stand among the others
    check   from an `Answer` and a `CheckContext` to checks

A check says whether a claim holds and why; `ok` is None for what cannot be decided, which is not
the same as right. The code of an answer is parsed and never run.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Literal

from msgspec import Struct

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks._torch_names import TorchNames
from fullgraph.ai.facts import Subject

Kind = Literal["line", "name", "setting", "category", "id", "fact", "snippet"]


class Check(Struct, frozen=True):
    """One claim of an answer, and whether it holds."""

    kind: Kind
    claim: str
    ok: bool | None
    why: str


class CheckContext(Struct, frozen=True):
    """What claims are checked against."""

    subject: Subject
    torch: TorchNames


def run_checks(answer: Answer, subject: Subject) -> tuple[Check, ...]:
    """Return the checks of an answer, each claim once."""
    context = CheckContext(subject, TorchNames())
    found: dict[tuple[str, str], Check] = {}
    for module in _modules():
        checks: Iterable[Check] = module.check(answer, context)
        for each in checks:
            found.setdefault((each.kind, each.claim), each)
    return tuple(found.values())


@cache
def _modules() -> tuple[ModuleType, ...]:
    names = [each.name for each in iter_modules(__path__) if not each.name.startswith("_")]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return tuple(sorted(modules, key=lambda module: module.ORDER))


def prose(answer: Answer) -> str:
    """Return the texts of an answer in which further claims may be."""
    parts = (answer.cause, answer.why, answer.worth, answer.change, answer.escape)
    return "\n".join(parts)
