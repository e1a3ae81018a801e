"""Define a class or a backend once, at module level, if each call creates a new one.

Dynamo guards on the identity of classes and backends, so a new one compiles again although it does
the same. The definition must use no names of the function that it stands in. The patch is offered
only if the definition certainly has no state that the calls would share.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator

from fullgraph.analysis.user_lines.bindings import Scope, bindings_in
from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.edits import Edit, FileEdits, insert_lines
from fullgraph.fix.source.text import last_line, line_start, owns_its_lines, source_of, span
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._certain import only_binding
from fullgraph.recompiles.remedies._stateless import (
    Definition,
    free_names,
    has_no_state,
    is_stateless,
    name_of,
)
from fullgraph.recompiles.source_changes import keyword_of

TITLE = "a class or backend made once"
KIND = "source"
ORDER = 5

_FACTORIES = frozenset({"namedtuple", "NamedTuple", "make_dataclass", "type", "partial"})
_MADE = "made_backend"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the move of one definition, or of the call that makes a backend."""
    for file, name in _wanted(group, context):
        for definition in _definitions(file, name, in_script=file.path == context.main_file):
            is_module_loop = file.scope_of(definition) is file.tree
            place = "before the loop" if is_module_loop else "at the level of the module"
            text = f"define {name} once, {place}"
            user = context.source(group.file)
            users = [user] if user is not None else []
            files = _moved(file, definition) if is_stateless(file, definition, users) else None
            if files is not None:
                yield Candidate(text, where=file.frame(definition), files=(files,))
            else:
                condition = "if calls may share its state"
                yield Candidate(f"{text}, {condition}", where=file.frame(definition))
            return
    if group.kind == "backend":
        yield from _backend_made_once(context.compile_calls(group))


def _backend_made_once(calls: list[tuple[SourceFile, ast.expr]]) -> Iterator[Candidate]:
    """Yield the change of calls such as `torch.compile(f, backend=make())`."""
    options = [(file, keyword_of(call, "backend")) for file, call in calls]
    made = [(file, each.value) for file, each in options if each is not None]
    if not made or any(isinstance(value, ast.Constant) for _, value in made):
        return
    file, value = made[0]
    factory = _pure_factory(file, value)
    is_one = len(calls) == 1 and _MADE not in file.text
    if isinstance(value, ast.Lambda) and is_one and _is_pure(file, value):
        yield Candidate(
            f"{_MADE} = {source_of(file.text, value)}, once",
            where=file.frame(value),
            files=(_lambda_moved(file, value),),
        )
        return
    if factory is None or not is_one:
        text = "make the backend once, and pass the same one to each torch.compile"
        yield Candidate(text, where=file.frame(value))
        return
    statement = f"{_MADE} = {factory.name}()"
    inserted = insert_lines(file.text, last_line(factory) + 1, ["", "", statement])
    files = (FileEdits(file.path, (inserted, Edit(*span(file.text, value), _MADE))),)
    yield Candidate(f"{statement}, once", where=file.frame(value), files=files)


def _is_pure(file: SourceFile, function: ast.Lambda) -> bool:
    """Return whether a lambda on one line uses only its arguments and torch."""
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} - arguments
    imported = {name for name, full in file.imports.items() if full.partition(".")[0] == "torch"}
    is_simple = not function.args.defaults and not function.args.kw_defaults
    return is_simple and names <= imported and function.lineno == function.end_lineno


def _lambda_moved(file: SourceFile, value: ast.Lambda) -> FileEdits:
    around = [each for each in file.around(value) if isinstance(each, ast.stmt)]
    decorated = getattr(around[-1], "decorator_list", [])
    place = min([around[-1].lineno, *(each.lineno for each in decorated)])
    statement = f"{_MADE} = {source_of(file.text, value)}"
    inserted = insert_lines(file.text, place, [statement, "", ""])
    return FileEdits(file.path, (inserted, Edit(*span(file.text, value), _MADE)))


def _pure_factory(file: SourceFile, value: ast.expr) -> ast.FunctionDef | None:
    """Return the function of a call that only defines and returns a function without state."""
    if not isinstance(value, ast.Call) or value.args or value.keywords:
        return None
    factory = only_binding(file, value.func) if isinstance(value.func, ast.Name) else None
    if not isinstance(factory, ast.FunctionDef) or factory not in file.tree.body:
        return None
    match factory.body:
        case [ast.FunctionDef() as inner, ast.Return(value=ast.Name(id=name))]:
            is_plain = inner.name == name and not factory.decorator_list
            is_plain = is_plain and not any(
                bindings_in(factory, each) for each in free_names(inner)
            )
            return factory if is_plain and has_no_state(file, inner) else None
    return None


def _wanted(group: RecompileGroup, context: ProgramContext) -> Iterator[tuple[SourceFile, str]]:
    """Yield names that may be defined in each call, and the files to look in."""
    if group.kind == "backend":
        for file, call in context.compile_calls(group):
            backend = keyword_of(call, "backend")
            if backend is not None and isinstance(backend.value, ast.Name):
                yield file, backend.value.id
    elif group.kind in ("type", "identity"):
        frames = [group.called_at, group.bound_at, group.written_at, *context.call_frames(group)]
        paths = dict.fromkeys([*(each.file for each in frames if each is not None), group.file])
        for path in paths:
            found = context.source(path) if context.is_yours(path) else None
            if found is not None:
                yield from ((found, name) for name in _class_names(group))


def _class_names(group: RecompileGroup) -> list[str]:
    words = [value.split("(")[0].split(" at ")[0] for value in group.values]
    return list(dict.fromkeys(word.strip("'<> ").rpartition(".")[2] for word in words))


def _definitions(file: SourceFile, name: str, *, in_script: bool) -> Iterator[Definition]:
    """Yield definitions of a name inside of functions, and in loops of a script.

    Another module could change a class of a module that it imports.
    """
    for node in ast.walk(file.tree):
        is_named = isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
        if isinstance(node, ast.Assign):
            is_named = _binds(node, name) and _makes_class(node.value)
        if is_named and isinstance(node, Definition):
            around = file.parents.get(id(node))
            is_in_loop = isinstance(around, ast.For | ast.While) and node in around.body
            is_in_function = file.scope_of(node) is not file.tree
            if isinstance(around, ast.FunctionDef) or (
                is_in_loop and (in_script or is_in_function)
            ):
                yield node


def _binds(node: ast.Assign, name: str) -> bool:
    target = node.targets[0]
    return len(node.targets) == 1 and isinstance(target, ast.Name) and target.id == name


def _makes_class(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    named = value.func.attr if isinstance(value.func, ast.Attribute) else value.func
    return (named if isinstance(named, str) else getattr(named, "id", "")) in _FACTORIES


def _moved(file: SourceFile, definition: Definition) -> FileEdits | None:
    """Return the move in front of the outermost function; None if that changes a name."""
    around = [each for each in file.around(definition) if isinstance(each, ast.stmt)]
    outermost = around[-1]
    module_names = _bound_at_top(file)
    name, used = name_of(definition), free_names(definition)
    is_free = used <= {*module_names, *dir(builtins)}
    functions = [each for each in around[1:] if isinstance(each, ast.FunctionDef)]
    is_taken = bool(functions) and name in module_names
    if not is_free or is_taken or not owns_its_lines(file.text, definition):
        return None
    hidden = [each for scope in functions for each in used if bindings_in(scope, each)]
    scopes: list[Scope] = [*functions] or [file.tree]
    bound = [each for scope in scopes for each in bindings_in(scope, name)]
    if hidden or len(bound) != 1:
        return None
    decorators = getattr(definition, "decorator_list", [])
    first = min([definition.lineno, *(each.lineno for each in decorators)])
    start, end = line_start(file.text, first), line_start(file.text, last_line(definition) + 1)
    lines = textwrap.dedent(file.text[start:end]).rstrip("\n").split("\n")
    decorated = getattr(outermost, "decorator_list", [])
    place = min([outermost.lineno, *(each.lineno for each in decorated)])
    remaining = [each for each in around[1].body if each is not definition]  # type: ignore[attr-defined]
    left = "" if remaining else f"{' ' * definition.col_offset}pass\n"
    inserted = insert_lines(file.text, place, [*lines, "", ""])
    return FileEdits(file.path, (inserted, Edit(start, end, left)))


def _bound_at_top(file: SourceFile) -> set[str]:
    found: set[str] = set()
    for node in file.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {each.asname or each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        else:
            found |= {
                each.id
                for each in ast.walk(node)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
    return found
