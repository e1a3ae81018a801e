"""How far a fix can be trusted: the grade that reports show, and what each safety level changes."""

from __future__ import annotations

from typing import Literal

from fullgraph.model.fix_kinds import Safety

# From the most to the least trustworthy:
#   safe        the same for every input of the tested kinds; --apply writes it
#   assumes     the same as long as named assumptions hold; written only with --unsafe
#   changes     something changes that the report names; written only with --unsafe
#   unverified  a changed line never ran; not counted as fixed and never written
Grade = Literal["safe", "assumes", "changes", "unverified"]

# What a fix of a safety level changes; the other levels change nothing.
CHANGES: dict[Safety, str] = {
    "equal": "results are equal up to rounding",
    "other_exception": "compiled code raises RuntimeError where the original raises another error",
    "reordered": "output is printed after the graph has run",
    "dropped": "output is dropped in compiled code",
    "narrower": "only inputs like the recorded ones give the same result",
}


def grade_of(safety: Safety, assumes: tuple[str, ...], *, untested: bool) -> Grade:
    """Return the grade of a fix; `untested` if a changed line never ran."""
    if untested:
        return "unverified"
    if safety in CHANGES:
        return "changes"
    return "assumes" if assumes else "safe"
