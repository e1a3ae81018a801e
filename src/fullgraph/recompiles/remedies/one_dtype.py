"""Convert an argument to one dtype where it is passed.

Offered if the function itself converts the argument to that dtype wherever it uses it, as it does
with token ids: arithmetic in another dtype would overflow or round differently. Of the integers or
of the floating-point numbers, the widest dtype that was seen is taken; a floating-point number
among integers stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._paths import has_branches
from fullgraph.recompiles.remedies._rewrites import function_source, uses_of
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = ".to(dtype) where the argument is passed"
KIND = "source"
ORDER = 10

# Each can represent all that stand before it in its list.
_WIDENING = (
    ("bool", "uint8", "int16", "int32", "int64"),
    ("bool", "int8", "int16", "int32", "int64"),
    ("float16", "float32", "float64"),
    ("bfloat16", "float32", "float64"),
)
_CASTS = {
    "short": "int16", "int": "int32", "long": "int64", "float": "float32", "double": "float64",
}  # fmt: skip


def common_dtype(seen: Iterable[str]) -> str | None:
    """Return a dtype that can represent most of the others; None if there are no two such."""
    dtypes = set(seen)
    row = max(_WIDENING, key=lambda each: len(dtypes.intersection(each)))
    widened = dtypes.intersection(row)
    return max(widened, key=row.index) if len(widened) > 1 else None


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change for an argument whose dtype changes."""
    if group.kind != "dtype" or group.place != "argument":
        return
    dtype = common_dtype(value.removeprefix("torch.") for value in group.values)
    passed = passed_arguments(group, context, group.source)
    if dtype is None or not passed or passed[0].suffix:
        return
    name = passed[0].text
    found = function_source(group, context)
    if found is None or not always_converts(*found, group.name, dtype):
        return
    if not all(isinstance(each.value, ast.Name) for each in passed):
        return
    # Wider dtypes, and floating-point numbers among integers, must not be narrowed.
    files = tuple(
        each.wrapped(f"{{}}.to(torch.promote_types({each.text}.dtype, torch.{dtype}))")
        for each in passed
    )
    text = f"pass {name}.to(torch.promote_types({name}.dtype, torch.{dtype}))"
    yield Candidate(text, where=passed[0].frame, files=files)


def always_converts(file: SourceFile, function: Function, name: str, dtype: str) -> bool:
    """Return whether a function uses an argument only after it has converted it to a dtype."""
    attributes = [file.parents.get(id(use)) for use in uses_of(function, name)]
    used = [
        each.attr if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load) else ""
        for each in attributes
    ]
    casts = [_CASTS.get(each) for each in used if each != "shape"]
    # In a branch that is not taken, the argument may be no tensor.
    return bool(casts) and set(casts) == {dtype} and not has_branches(function)
