"""Loops over experts, written anew."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers.moe_expert_loops.empty_rows import is_idle, row_names
from fullgraph.fix.fixers.moe_expert_loops.loop import Hits
from fullgraph.fix.fixers.moe_expert_loops.stacked import is_stacked
from fullgraph.fix.source.edits import body_around, indent_of, source_of, stands_alone, swapped
from fullgraph.fix.source.text import lines_of


def over_all(text: str, tree: ast.Module, function: ast.FunctionDef, hits: Hits) -> str | None:
    loop, body = hits.loop, list(hits.loop.body)
    gone: list[ast.stmt] = []
    boxed = hits.boxed
    if _unboxes(body[0], hits.turn):
        gone.append(body.pop(0))
        boxed = False
    passes_over = bool(body) and _passes_over(text, body[0], hits)
    if passes_over:
        gone.append(body.pop(0))
    rows = row_names(body)
    words = _words_for_turns(loop, body, hits, boxed)
    if words is None or not is_idle(tree, function, loop, body, rows):
        return None
    skip = None
    if passes_over or not is_stacked(tree, function, body, hits.turn):
        skip = _skip_line(body)
        if skip is None:
            return None
    before = [] if passes_over or hits.rows == hits.experts else [_check(hits)]
    new = swapped(text, [(loop.iter, f"range({hits.experts})"), *words])
    if hits.found_by is not None:
        if len(body_around(function, hits.found_by)) == 1:
            return None
        gone.append(hits.found_by)
    if not all(stands_alone(text, each) for each in (*gone, *body)):
        return None
    inserted = {loop.lineno: [indent_of(text, loop) + line for line in before]}
    if skip:
        place, lines = skip
        inserted[place.lineno] = [indent_of(text, place) + line for line in lines]
    return _with_lines(new, gone, inserted)


def _check(hits: Hits) -> str:
    return (
        f"torch._assert_async({hits.mask}[{hits.experts} :].sum() == 0, "
        '"a token chose an expert that does not exist")'
    )


def _unboxes(statement: ast.stmt, turn: str) -> bool:
    """`turn = turn[0]` or `turn = turn.item()`"""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == turn:
            pass
        case _:
            return False
    match value:
        case ast.Subscript(value=ast.Name(id=inner), slice=ast.Constant(value=0)):
            return inner == turn
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            match inner:
                case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
                    return name == turn
        case ast.Call(func=ast.Name(id="int"), args=[ast.Name(id=inner)], keywords=[]):
            return inner == turn
    return False


def _passes_over(text: str, statement: ast.stmt, hits: Hits) -> bool:
    """`if turn == experts: continue`"""
    match statement:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[bound]),
            body=[ast.Continue()],
            orelse=[],
        ):
            return name == hits.turn and source_of(text, bound) == hits.experts
    return False


def _words_for_turns(
    loop: ast.For, body: list[ast.stmt], hits: Hits, boxed: bool
) -> list[tuple[ast.expr | ast.stmt, str]] | None:
    """New words where the turn was a tensor; None if it is used where a number is not the same."""
    parents = {child: node for node in ast.walk(loop) for child in ast.iter_child_nodes(node)}
    words: list[tuple[ast.expr | ast.stmt, str]] = []
    for statement in body:
        for node in ast.walk(statement):
            if not (isinstance(node, ast.Name) and node.id == hits.turn):
                continue
            chosen = parents[node]
            if not (isinstance(chosen, ast.Subscript) and chosen.slice is node):
                return None
            method = parents[chosen]
            outer = parents.get(method)
            match method, outer:
                case ast.Attribute(attr="squeeze"), ast.Call(args=[ast.Constant(value=0)]) if boxed:
                    assert isinstance(outer, ast.Call)
                    words.append((outer, ast.unparse(chosen)))
                case _ if boxed and not _is_called(chosen, parents):
                    return None
    return words


def _is_called(chosen: ast.Subscript, parents: dict[ast.AST, ast.AST]) -> bool:
    """A list of modules takes a tensor of one element as well as a number."""
    match parents[chosen]:
        case ast.Call(func=func):
            return func is chosen
        case ast.Assign(targets=[ast.Name(id=name)]):
            return any(
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == name
                for node in parents
            )
    return False


def _skip_line(
    body: list[ast.stmt],
) -> tuple[ast.stmt, list[str]] | None:
    """Where and how experts without tokens are skipped while gradients are recorded."""
    for number, statement in enumerate(body[:-1]):
        for name in sorted(row_names([statement])):
            lines = [
                "# An expert without tokens has no gradient, which is not a gradient of zero.",
                f"if torch.is_grad_enabled() and {name}.numel() == 0:",
                "    continue",
            ]
            return body[number + 1], lines
    return None


def without_skipping(
    text: str, tree: ast.Module, function: ast.FunctionDef, loop: ast.For
) -> str | None:
    """For `if rows.numel() == 0: continue` and `if mask.any(): ...` in a loop of fixed length."""
    for number, statement in enumerate(loop.body):
        if not isinstance(statement, ast.If) or statement.orelse:
            continue
        before, after = loop.body[:number], loop.body[number + 1 :]
        skips = isinstance(statement.body[0], ast.Continue)
        rows = row_names(before) | ({_name_of_any(statement.test)} - {""})
        rest = after if skips else [*statement.body, *after]
        tested = _is_none_left(statement.test, rows) if skips else _is_some(statement.test, rows)
        if not tested or not is_idle(tree, function, loop, [*before, *rest], rows):
            continue
        turn = loop.target.id if isinstance(loop.target, ast.Name) else ""
        test = source_of(text, statement.test)
        if skips and is_stacked(tree, function, rest, turn) and stands_alone(text, statement):
            return _with_lines(text, [statement], {})
        test = f"({test})" if isinstance(statement.test, ast.BoolOp) else test
        guard = "torch.is_grad_enabled() and" if skips else "not torch.is_grad_enabled() or"
        return swapped(text, [(statement.test, f"{guard} {test}")])
    return None


def _name_of_any(test: ast.expr) -> str:
    match test:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="any"), args=[]):
            return name
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _name_of_any(operand)
    return ""


def _counted(node: ast.expr) -> str:
    """The name whose rows are counted."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="numel"), args=[]):
            return name
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)
        ):
            return name
    return ""


def _is_none_left(test: ast.expr, rows: set[str]) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            return _counted(left) in rows
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return (_counted(operand) or _name_of_any(operand)) in rows
    return False


def _is_some(test: ast.expr, rows: set[str]) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
            return _counted(left) in rows
    return (_counted(test) or _name_of_any(test)) in rows


def _with_lines(text: str, gone: list[ast.stmt], inserted: dict[int, list[str]]) -> str:
    """Without some statements and the comments above them, and with lines before others."""
    lines: list[str | None] = list(lines_of(text))
    for statement in gone:
        first = statement.lineno
        while (above := lines[first - 2]) is not None and above.lstrip().startswith("#"):
            first -= 1
        for number in range(first, (statement.end_lineno or statement.lineno) + 1):
            lines[number - 1] = None
    new: list[str] = []
    for number, line in enumerate(lines, 1):
        new += [f"{each}\n" for each in inserted.get(number, ())]
        new += [line] if line is not None else []
    return "".join(new)
