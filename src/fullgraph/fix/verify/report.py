"""What `fullgraph verify` reports. `docs/verify.md` describes the same as JSON."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fullgraph.fix.report.model import BeforeAfter

# The history of the format.
#   1  the first
VERIFY_FORMAT = 1

Verdict = Literal["verified", "unverified", "different", "refused"]
VerifiedGrade = Literal["safe", "assumes", "changes"]


class CallDifference(Struct, frozen=True):
    """A call for which the changed program does something else."""

    call: str
    what: str


class Refused(Struct, frozen=True):
    """A line of the change that is not verified, and why."""

    file: str
    line: int
    why: str


class Unexercised(Struct, frozen=True):
    """A line of the change, or a side of a test on it, that no call and no probe runs."""

    file: str
    line: int
    # Which part of the line, in words.
    what: str
    # Whether the line is one of the program as it was.
    is_old: bool = False


class Evidence(Struct, frozen=True):
    """What ran, and what was different."""

    calls: int = 0
    varied: int = 0
    backends: tuple[str, ...] = ()
    differences: tuple[CallDifference, ...] = ()
    probes: int = 0
    compiled_probes: int = 0
    largest_difference: float = 0.0


class VerifyReport(Struct, frozen=True):
    """The verdict on a change, and the facts behind it."""

    format: int
    verdict: Verdict
    # None unless it is verified.
    grade: VerifiedGrade | None
    # What must hold for the change to be right, and what it changes, in sentences.
    assumptions: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    evidence: Evidence = Evidence()
    refused: tuple[Refused, ...] = ()
    unexercised: tuple[Unexercised, ...] = ()
    # Why it is unverified, if neither a difference nor a line says it; empty otherwise.
    problem: str = ""
    # Files of the change that have no part in what the program does.
    ignored: tuple[str, ...] = ()
    # None if the program did not run.
    breaks: BeforeAfter | None = None
    graphs: BeforeAfter | None = None
    # What confines the changed code, in words; empty if nothing does or nothing ran.
    confinement: str = ""
    # Whether the whole changed program was run again, because code outside of functions changes.
    reran: bool = False
    seconds: float = 0.0
