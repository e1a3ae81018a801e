"""The words of mending: plans, trials and what came of them. No torch, no I/O."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.model.report import Report

# exact: the same results, bit for bit, and the same effects. reordered: printed or logged lines
# come later. dropped: they are left out while compiled. specialised: a new value of an input
# compiles once more.
Safety = Literal["exact", "reordered", "dropped", "specialised"]
# In the order of preference. escape: what Dynamo is told not to look into. ease: the break stays,
# but does less harm.
Kind = Literal["setting", "rewrite", "hoist", "guard", "escape", "ease"]


class MendError(FullgraphError):
    """A program that cannot be mended, or a place that cannot be written to."""


class FilePatch(Struct, frozen=True):
    """A file as it would be. `prelude` are the statements that it gained at module level."""

    path: str
    text: str
    prelude: tuple[str, ...] = ()


class Plan(Struct, frozen=True):
    """All that is changed at one time, to be tried or kept."""

    files: dict[str, FilePatch] = {}
    settings: dict[str, Any] = {}
    guards: bool = False

    def with_file(self, patch: FilePatch) -> Plan:
        earlier = self.files.get(patch.path)
        prelude = (*(earlier.prelude if earlier else ()), *patch.prelude)
        merged = FilePatch(patch.path, patch.text, tuple(dict.fromkeys(prelude)))
        return msgspec.structs.replace(self, files={**self.files, patch.path: merged})

    def with_settings(self, settings: dict[str, Any]) -> Plan:
        return msgspec.structs.replace(self, settings=joined_settings(self.settings, settings))


NO_PLAN = Plan()


def joined_settings(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both; where both name functions, all of them."""
    joined = dict(one)
    for name, value in other.items():
        mine = joined.get(name)
        if isinstance(mine, list) and isinstance(value, list):
            value = sorted({*mine, *value})
        joined[name] = value
    return joined


class Candidate(Struct, frozen=True):
    """One way to remove one break (or several at once), not yet tried."""

    fixer: str
    title: str
    kind: Kind
    safety: Safety
    # One of these three.
    file: FilePatch | None = None
    settings: dict[str, Any] = {}
    guards: bool = False

    @property
    def path(self) -> str | None:
        return self.file.path if self.file is not None else None

    def added_to(self, plan: Plan) -> Plan:
        if self.file is not None:
            plan = plan.with_file(self.file)
        if self.settings:
            plan = plan.with_settings(self.settings)
        if self.guards:
            plan = msgspec.structs.replace(plan, guards=True)
        return plan


class Request(Struct, frozen=True):
    """What a child of the workshop is asked to do."""

    number: int
    # reference: run the program as it is, in eager, and keep what it gives. trial: run a plan.
    # reach: find out which of `lines` the program as it is gets to.
    task: Literal["reference", "trial", "reach"]
    plan: Plan = Plan()
    # Empty: the one that the program itself names.
    backend: str = "eager"
    # Whether compiled code is called with varied inputs as well; in eager it always is.
    varied: bool = True
    # Only how long a steady call takes.
    timing: bool = False
    lines: dict[str, tuple[int, ...]] = {}
    # After this long it is killed; after half of it no further varied inputs are tried.
    seconds: float = 120.0
    # How safe the least safe fix of the plan claims to be.
    effects: Safety = "exact"


class Difference(Struct, frozen=True):
    """Where two runs disagree."""

    sample: str
    what: str
    mode: Literal["eager", "compiled"]


class GuardCost(Struct, frozen=True):
    """A value guard: what it stands for, and what it costs a call."""

    file: str
    line: int
    input: str
    kind: str
    value: str
    checked: int
    microseconds: float
    # How often it did not hold, so that the function was compiled once more.
    failed: int


class Samples(Struct, frozen=True):
    recorded: int
    varied: int
    # Varied inputs for which the program raises, as it is.
    raising: int


class Trial(Struct, frozen=True):
    """What running a plan showed."""

    number: int
    report: Report | None
    differences: tuple[Difference, ...] = ()
    # The largest difference between numbers that were allowed to differ.
    largest: float = 0.0
    gradients: int = 0
    # Of one call, those that are zero where the program as it is has none.
    zero_gradients: int = 0
    samples: Samples = Samples(0, 0, 0)
    # Compiles during the second and third call with the same inputs.
    recompiled: int = 0
    # Sites of breaks while compiled code was called with varied inputs.
    varied_sites: int = 0
    # Seconds of a steady call.
    seconds: float | None = None
    guards: tuple[GuardCost, ...] = ()
    # Lines that no sample got to, by file.
    unreached: dict[str, tuple[int, ...]] = {}
    # What stopped it altogether.
    error: str = ""


class Ready(Struct, frozen=True):
    """The program has run; these calls were recorded."""

    calls: tuple[str, ...]
    functions: tuple[str, ...]
    error: str = ""
    # Where the error came from, for the last lines of a traceback.
    details: str = ""
    # Whether the process can be forked; if not, the program is run anew for each request.
    forks: bool = True
