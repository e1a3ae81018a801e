"""What calls and root causes cost: the part of a report that `--cost` adds."""

from __future__ import annotations

from msgspec import Struct


class Estimate(Struct, frozen=True):
    """A time in seconds, with the quartiles of what was measured."""

    seconds: float
    low: float
    high: float


class CostShares(Struct, frozen=True):
    """Where the seconds of a call go; they add up to the call."""

    graphs: float
    # Eager code between graphs because of a break after which tracing resumed.
    between: float
    # Checking guards, finding compiled code and entering it.
    guards: float
    # Functions that Dynamo did not compile.
    skipped: float
    unexplained: float


class CallCost(Struct, frozen=True):
    """What a call of one compiled function takes, or the backward passes after it."""

    function: str
    qualified: str
    file: str
    line: int
    backward: bool
    # Calls that compiled nothing, how many of them were timed, and the graphs that one runs.
    steady: int
    timed: int
    graphs: float
    # Why the cost cannot be told; empty if it can.
    reason: str
    call: Estimate | None
    shares: CostShares | None
    # The time on the device in graphs and outside of them; None without a device.
    device_graphs: float | None = None
    device_between: float | None = None


class CausePrice(Struct, frozen=True):
    """What a root cause costs each call that it affects."""

    # The key of the root cause.
    site: str
    # Why the price cannot be told; empty if it can.
    reason: str
    # The time of a call that goes away at most if the break is fixed, and its part in the backward
    # pass.
    price: Estimate | None
    backward: Estimate | None
    # Without the operators, which have to run in any case.
    at_least: float
    # The share of all measured time.
    share: float
    # Per call: eager operators, copies to the host, synchronizations, and graphs that exist because
    # of the break.
    operators: float | None
    host_copies: float | None
    synchronizations: float | None
    graphs: float
    # The time that compiling the rest of split functions took, once.
    compile_seconds: float
    # Whether several breaks share a stretch of eager code, so that the price is a part of its time.
    shared: bool


class CostReport(Struct, frozen=True):
    """What calls cost; None in a report without `--cost`."""

    calls: tuple[CallCost, ...]
    # The most expensive first; those whose price cannot be told are last.
    causes: tuple[CausePrice, ...]
    # The share of the measured time that the categories explain, and the share that would go away
    # if all root causes were fixed; None if nothing was timed.
    explained: float | None
    at_most: float | None
    at_least: float | None
    # Why nothing can be told; empty if something can.
    reason: str
