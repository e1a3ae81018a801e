"""The ways out, found by walking this folder.

A file or folder is about one of them, unless its name starts with an underscore. Its docstring says
what it does, why the pattern breaks and how safe the change is. It has

    TITLE       what a report calls it, "branch on a tensor → torch.where"
    KIND        setting, rewrite, hoist, guard, escape or ease; they are tried in this order
    SAFETY      what it may change: see fix/model.py
    CHANGES     programs that it must mend, and
    REFUSES     programs that it, or the proof, must leave alone: name -> source
    ORDER       within one kind, lower is tried first; 0 where it is not given
    candidates  from a spot to what could be tried there, the best first

A program in CHANGES or REFUSES defines `f`, a function or a module, and `inputs()`, which returns
the tuple of its arguments; `more()` may yield further tuples, and `GRADIENTS = False` has it called
without gradients. The tests run all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_args

from msgspec import Struct

from fullgraph.fix.model import Candidate, FilePatch, Kind, Safety
from fullgraph.fix.source.text import Block, enclosing_function, lines_of, replaced, with_imports
from fullgraph.model.report import Cause


class Spot(Struct, frozen=True):
    """A break, and the text of the file that it is in, as the plan so far has it."""

    cause: Cause
    text: str
    # From a path to the text of that file, as the plan so far has it.
    text_of: Callable[[str], str | None]

    @property
    def block(self) -> Block | None:
        """The innermost function around it."""
        return enclosing_function(self.text, self.cause.line)

    @property
    def line(self) -> str:
        lines = lines_of(self.text)
        return lines[self.cause.line - 1].rstrip("\n") if 0 < self.cause.line <= len(lines) else ""

    def rewritten(self, block: Block, new: str, *imports: str) -> FilePatch:
        """The file with another text for the block, and with the imports that it needs."""
        text, added = with_imports(replaced(self.text, block, new), imports)
        return FilePatch(self.cause.file, text, added)


class Fixer(Struct, frozen=True):
    name: str
    title: str
    kind: Kind
    safety: Safety
    order: int
    about: str
    changes: dict[str, str]
    refuses: dict[str, str]
    find: Callable[[Spot], Iterator[Candidate]]

    def candidates(self, spot: Spot) -> Iterator[Candidate]:
        for candidate in self.find(spot):
            if candidate.file is None or candidate.file.text != spot.text:
                yield candidate


@cache
def all_fixers() -> tuple[Fixer, ...]:
    """In the order in which they are tried."""
    names = [each.name for each in iter_modules(__path__) if not each.name.startswith("_")]
    found = [_read(import_module(f"{__name__}.{name}")) for name in names]
    kinds = get_args(Kind)
    return tuple(
        sorted(found, key=lambda fixer: (kinds.index(fixer.kind), fixer.order, fixer.name))
    )


def _read(module: Any) -> Fixer:
    return Fixer(
        name=module.__name__.rpartition(".")[2],
        title=module.TITLE,
        kind=module.KIND,
        safety=module.SAFETY,
        order=getattr(module, "ORDER", 0),
        about=module.__doc__ or "",
        changes=module.CHANGES,
        refuses=module.REFUSES,
        find=module.candidates,
    )
