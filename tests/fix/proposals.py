"""What fixers propose for breaks at marked lines of programs that nothing runs.

    python -m tests.fix.proposals

writes the results in `proposals.txt` again, after a fixer was changed on purpose; read the diff of
git. The cases of a fixer show what becomes of a program. Here are the many forms of code that a
fixer must leave alone, and the forms of what it writes.

A heading is the name of a fixer, with the id of the breaks if it is not the first one of the
fixer. A break is at a line with the comment `# here`, at its first column or at the text after
`# here at`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from fullgraph.fix.fixers import Fixer, Proposal, all_fixers
from fullgraph.fix.model import Refusal
from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.edits import apply_edits
from tests.fix.causes import root_cause

EXPECTED = Path(__file__).parent / "proposals.txt"
_SECTION = re.compile(
    r"^## (?P<fixer>\w+)(?: (?P<id>GB\d+))?\n(?P<about>.*?)"
    r"```python\n(?P<program>.*?)```\n\n```text\n(?P<result>.*?)```\n",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r" *# here(?: at (?P<at>.*))?$")


class Section(NamedTuple):
    """A program with marked breaks, and what a fixer proposes for each of them."""

    fixer: str
    id: str
    about: str
    program: str
    result: str

    def markdown(self) -> str:
        """Return the section as it stands in the file."""
        heading = " ".join(filter(None, ("##", self.fixer, self.id)))
        return (
            f"{heading}\n{self.about}```python\n{self.program}```\n\n```text\n{self.result}```\n\n"
        )


def sections() -> list[Section]:
    """Return the sections of the file."""
    found = _SECTION.finditer(EXPECTED.read_text("utf-8"))
    return [
        Section(**{name: text or "" for name, text in each.groupdict().items()}) for each in found
    ]


def result_of(section: Section) -> str:
    """Return what the fixer proposes for the breaks of a program now."""
    fixer = next(each for each in all_fixers() if each.name == section.fixer)
    lines = [
        line
        for context in _breaks(section, fixer)
        for line in _described(context, list(fixer.propose(context)))
    ]
    return "".join(f"{line}\n" for line in lines)


def _breaks(section: Section, fixer: Fixer) -> Iterator[BreakContext]:
    file = SourceFile("program.py", section.program)
    for number, line in enumerate(section.program.splitlines(), 1):
        mark = _MARK.search(line)
        if mark is None:
            continue
        code = line[: mark.start()]
        start = code.index(mark["at"]) if mark["at"] else len(code) - len(code.lstrip())
        cause = root_cause(
            id=section.id or next(iter(fixer.ids), None),
            category=next(iter(fixer.categories), ""),
            line=number,
            column=start + 1,
            end_column=len(code) + 1,
        )
        yield BreakContext(cause, {"program.py": file}.get)


def _described(context: BreakContext, proposals: list[Proposal]) -> Iterator[str]:
    line = context.cause.line
    if not proposals:
        yield f"{line}: nothing"
    for proposal in proposals:
        if isinstance(proposal, Refusal):
            yield f"{line}: refused: {proposal.reason} (line {proposal.line})"
            continue
        yield f"{line}: {proposal.title}, {proposal.safety}"
        yield from (f"    assumes {each}" for each in proposal.assumes)
        yield from (f"    sets {name} = {value}" for name, value in proposal.settings.items())
        if proposal.file is not None:
            edited = apply_edits(context.text, proposal.file.edits).splitlines()
            diff = unified_diff(context.text.splitlines(), edited, lineterm="", n=0)
            yield from (
                f"    {each}".rstrip() for each in diff if not each.startswith(("---", "+++", "@@"))
            )


def main() -> None:
    """Write the file again."""
    text = EXPECTED.read_text("utf-8")
    first = text.index("## ")
    written = [each._replace(result=result_of(each)).markdown() for each in sections()]
    EXPECTED.write_text(text[:first] + "".join(written).rstrip("\n") + "\n", "utf-8")


if __name__ == "__main__":
    main()
