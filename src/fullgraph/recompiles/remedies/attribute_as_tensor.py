"""Keep a number that changes in a tensor without dimensions, as an attribute or buffer of a module.

Dynamo guards on the value of a number in an attribute. That of a tensor is data: all values fit one
piece of compiled code. Offered as a patch if the compiled function only computes with the number,
on one path, nothing else reads it, and each assigned value is certainly a number. The patch makes a
plain attribute and no buffer, which would be saved with the module and change its dtype with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.edits import Edit, FileEdits, replace_node
from fullgraph.fix.source.module_level import insert_at_top, missing_imports
from fullgraph.fix.source.text import source_of
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._certain import is_integer, is_number
from fullgraph.recompiles.remedies._operands import FloatOperands
from fullgraph.recompiles.remedies._paths import has_branches
from fullgraph.recompiles.remedies._rewrites import function_source

TITLE = "an attribute as a tensor or buffer"
KIND = "source"
ORDER = 56

_DTYPES = {"int": "torch.int64", "float": "torch.float64"}
# With these, an attribute is read or written without its name. A tensor that is made in inference
# mode cannot be used in training.
_HIDING = frozenset({"__dict__", "getattr", "inference_mode", "setattr", "vars"})


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of all statements that write the attribute."""
    owner, _, name = group.name.rpartition(".")
    found = function_source(group, context)
    if group.kind not in _DTYPES or group.place != "attribute" or owner != "self" or not found:
        return
    dtype = _DTYPES[group.kind]
    files = _edited(context, found[1], name, dtype) if _only_computes(group, *found) else ()
    text = f"keep {group.name} in a tensor: torch.tensor(…, dtype={dtype})"
    if files:
        yield Candidate(text, where=group.written_at, files=files)
    else:
        condition = "if the function only computes with it, or register it as a buffer"
        yield Candidate(f"{text}, {condition}", where=group.written_at)


def _only_computes(group: RecompileGroup, file: SourceFile, function: Function) -> bool:
    operands = FloatOperands(file, function, {})
    is_float = group.kind == "float"
    return not has_branches(function) and operands.is_computed_with(group.name, floating=is_float)


def _edited(
    context: ProgramContext, function: Function, name: str, dtype: str
) -> tuple[FileEdits, ...]:
    """Return the edits of all files; nothing if one of them might use a number."""
    changed: list[FileEdits] = []
    for file in context.program_files:
        edits = _edits_of(file, function, name, dtype)
        if edits is None:
            return ()
        if edits:
            imports = insert_at_top(file.text, missing_imports(file.text, ["import torch"]), [])
            changed.append(FileEdits(file.path, (*imports, *edits)))
    return tuple(changed)


def _edits_of(file: SourceFile, function: Function, name: str, dtype: str) -> Sequence[Edit] | None:
    """Return the edits of the statements that write an attribute; None if it has other uses."""
    inside = {id(node) for node in ast.walk(function)}
    edits: list[Edit] = []
    for node in file.nodes:
        if _hides(node, name):
            return None
        if not isinstance(node, ast.Attribute) or node.attr != name:
            continue
        if isinstance(node.ctx, ast.Load):
            if id(node) not in inside:
                return None
            continue
        match file.parents.get(id(node)):
            case ast.Assign(targets=[_], value=value) if is_number(file, value):
                text = source_of(file.text, value)
                edits.append(replace_node(file.text, value, f"torch.tensor({text}, dtype={dtype})"))
            case ast.AugAssign(value=value, op=op) if _keeps_dtype(file, value, op, dtype):
                pass
            case _:
                return None
    return edits


def _keeps_dtype(file: SourceFile, value: ast.expr, op: ast.operator, dtype: str) -> bool:
    """Return whether a tensor can be updated in place, as a number is."""
    if isinstance(op, ast.MatMult | ast.Pow) or not is_number(file, value):
        return False
    return dtype == _DTYPES["float"] or (
        is_integer(file, value) and not isinstance(op, ast.Div | ast.Mod | ast.FloorDiv)
    )


def _hides(node: ast.AST, name: str) -> bool:
    """Return whether a node may use an attribute without its name, or declares it for a class."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word in _HIDING
        case ast.Constant(value=str(text)):
            return text == name
        case ast.ClassDef(body=body):
            return any(
                isinstance(target, ast.Name) and target.id == name
                for each in body
                for target in _targets(each)
            )
    return False


def _targets(statement: ast.stmt) -> Sequence[ast.expr]:
    if isinstance(statement, ast.AnnAssign):
        return [statement.target]
    return statement.targets if isinstance(statement, ast.Assign) else []
