"""A remedy that is proposed for a group, before it is replayed."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from fullgraph.fix.source.edits import FileEdits
from fullgraph.model.events import Frame
from fullgraph.recompiles.report import RemedyKind

# A configuration entry such as `torch.compiler.config.dynamic_sources`, and its value.
ConfigValue = bool | int | float | str
# What a remedy promises: fewer compiles, or fewer calls in eager mode for more compiles.
Aim = Literal["compiles", "eager_calls"]
# The dimension in `L['x']:0`.
_DIMENSION = re.compile(r":\d+$")


class Candidate(Struct, frozen=True):
    """A proposed remedy: what to do, and how a replay does the same."""

    text: str
    # From the module of the remedy.
    name: str = ""
    kind: RemedyKind = "source"
    where: Frame | None = None
    # What a replay changes: files in memory, and configuration entries.
    files: tuple[FileEdits, ...] = ()
    config: dict[str, ConfigValue] = {}
    aim: Aim = "compiles"
    # Offered only if compiled code compares no size with anything: other sizes might raise.
    needs_free_sizes: bool = False
    # Whether the first call of each function may run in eager mode.
    eager_first_calls: bool = False
    # The function whose first call may return tensors that need gradients now.
    warmed_up: str = ""
    # Whether it helps from the second run on: the first one writes a profile.
    needs_profile: bool = False
    # Whether it is shown after all others that help: other code that is added later may raise.
    comes_last: bool = False
    # What could go wrong; only for unsafe remedies.
    risk: str = ""

    @property
    def can_be_replayed(self) -> bool:
        """Whether a run of the program can have this remedy in place."""
        return self.kind != "unsafe" and bool(self.files or self.config)

    @property
    def can_be_written(self) -> bool:
        """Whether the remedy changes files of the program."""
        return self.kind in ("source", "setting") and bool(self.files)

    @property
    def is_global(self) -> bool:
        """Whether the remedy may change how any function of the program is compiled."""
        is_set = self.kind == "setting" or any(not _names_sources(each) for each in self.config)
        return is_set or self.needs_profile

    @property
    def named_sources(self) -> frozenset[str]:
        """Dynamo's names of the values that the remedy changes in every function that has them."""
        values = [str(value) for name, value in self.config.items() if _names_sources(name)]
        entries = [entry for value in values for entry in value.split(",")]
        return frozenset(_DIMENSION.sub("", each) for each in entries)


def _names_sources(entry: str) -> bool:
    """Return whether a configuration entry lists values by their names in Dynamo."""
    return entry.endswith("_sources")
