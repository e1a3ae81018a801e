"""A finding: one reason why a function is not pure."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

# effect: prints, logs, opens a file, changes a setting
# state: mutates a global, an attribute of a global, or a name of an enclosing function
# input: mutates an argument
# global: reads a global that may change
# changing: random numbers, the clock, uninitialized memory
# address: depends on a memory address
# unknown: calls a function that was not analyzed
FindingKind = Literal["effect", "state", "input", "global", "changing", "address", "unknown"]


class Finding(Struct, frozen=True):
    """One reason why a function is not pure.

    `function` names the called function that has the line; it is empty for the checked function.
    A finding by "run" has no line.
    """

    kind: FindingKind
    line: int
    what: str
    function: str = ""
    by: Literal["source", "run"] = "source"
