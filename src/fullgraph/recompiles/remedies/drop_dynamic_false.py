"""Drop `dynamic=False`, so that Dynamo makes a size or number dynamic once it changes.

With `dynamic=False`, every new size compiles again until the limit is reached. By default, Dynamo
compiles a second time with the changed size as a symbol, and that code fits all sizes but 0 and 1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.source_changes import keyword_of, with_option

TITLE = "drop dynamic=False"
KIND = "source"
ORDER = 10

_KINDS = ("size", "stride", "int", "float")


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of all calls of torch.compile that say `dynamic=False`."""
    if group.kind not in _KINDS:
        return
    calls = [each for each in context.compile_calls(group) if _says_false(each[1])]
    files = with_option(calls, "dynamic", None)
    if files:
        file, call = calls[0]
        yield Candidate("drop dynamic=False", where=file.frame(call), files=files)


def _says_false(call: ast.expr) -> bool:
    keyword = keyword_of(call, "dynamic")
    value = keyword.value if keyword is not None else None
    return isinstance(value, ast.Constant) and value.value is False
