"""Compile with `dynamic=True`: all sizes and numbers are symbols from the first compile on.

It costs nothing in the source but one option. Sizes that never change become symbols too, which
can make compiled code slower; the replay measures that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.source_changes import keyword_of, with_option

TITLE = "dynamic=True"
KIND = "source"
ORDER = 40
DYNAMIC = True

_KINDS = ("size", "stride", "int", "float")


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of all calls of torch.compile that do not say `dynamic=True`."""
    if group.kind not in _KINDS:
        return
    calls = [each for each in context.compile_calls(group) if not _says_true(each[1])]
    files = with_option(calls, "dynamic", "True")
    if files:
        file, call = calls[0]
        yield Candidate("torch.compile(…, dynamic=True)", where=file.frame(call), files=files)


def _says_true(call: ast.expr) -> bool:
    keyword = keyword_of(call, "dynamic")
    value = keyword.value if keyword is not None else None
    return isinstance(value, ast.Constant) and value.value is True
