"""Cases of fixers: Markdown files with programs and what a fixer makes of them.

    ## A sum decides

    A sentence or two that say what the case is about (optional).

    ```python
    import torch

    def f(x):
        ...

    def inputs():
        return (torch.randn(4),)
    ```

    ```diff
    -    if x.sum() > 0:
    ...
    ```

A program defines `f`, a function or a module, and `inputs()`, which returns the tuple of its
arguments. `more()` may yield further tuples, and `GRADIENTS = False` calls it without gradients.
The expected result is one of

    a block `diff`       the fix, as a diff without file names; a setting is a line
                         `+ torch._dynamo.config...` of its own
    `refused by fixer: REASON (line N)`       the fixer recognizes the code and declines
    `refused by fixer: pattern not recognized`
    `refused by verification: REASON`         a trial rejects the candidate
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_REFUSED = re.compile(r"^refused by (fixer|verification): (.+)$", re.MULTILINE)
# What only the tests need: the functions that return arguments, and the switch for gradients.
_SCAFFOLDING = re.compile(
    r"^(?:def (?:inputs|more)\(\):\n(?:[ \t].*\n|\n)*|GRADIENTS = .*\n)", re.MULTILINE
)
_EXAMPLES = Path(__file__).parent / "examples"


class Case(Struct, frozen=True):
    """One program, and what a fixer makes of it: a diff, or a refusal and its reason."""

    name: str
    about: str
    program: str
    diff: str = ""
    # "fixer" or "verification"; empty for a program that is fixed.
    refused_by: str = ""
    reason: str = ""

    @property
    def code(self) -> str:
        """The program as users see it: without what only says how to call it."""
        return _SCAFFOLDING.sub("", self.program).rstrip() + "\n"


def parse_cases(text: str) -> Iterator[Case]:
    """Yield the cases in a Markdown text."""
    headings = list(_HEADING.finditer(text))
    ends = [each.start() for each in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield _parse_case(heading[1].strip(), text[heading.end() : end])


def _parse_case(name: str, body: str) -> Case:
    blocks = {match[1]: match[2] for match in _BLOCK.finditer(body)}
    first = _BLOCK.search(body)
    about = body[: first.start()].strip() if first else ""
    refused = _REFUSED.search(_BLOCK.sub("", body))
    if "python" not in blocks or ("diff" in blocks) == bool(refused):
        raise ValueError(f"case {name!r} needs a program, and a diff or a refusal")
    return Case(
        name=name,
        about=about,
        program=blocks["python"],
        diff=blocks.get("diff", ""),
        refused_by=refused[1] if refused else "",
        reason=refused[2].strip() if refused else "",
    )


def examples_of(fixer: str) -> list[Case]:
    """Return the cases of a fixer that are shown to users."""
    path = _EXAMPLES / f"{fixer}.md"
    return list(parse_cases(path.read_text("utf-8"))) if path.exists() else []
