"""The edits that remedies make: options of `torch.compile`, arguments of calls, settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from fullgraph.analysis.user_lines.arguments import arguments_for, slot_of
from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.edits import Edit, FileEdits, insert_lines
from fullgraph.fix.source.module_level import insert_at_top, insert_settings, missing_imports
from fullgraph.fix.source.text import indent_of, owns_its_lines, source_of, span
from fullgraph.model.events import Frame
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.context import ProgramContext

_ARGUMENT = re.compile(r"L\['(\w+)'\]")
# Statements whose expressions are all evaluated before anything else of them happens.
_PLAIN_STATEMENTS = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return, ast.AugAssign)


def keyword_of(call: ast.expr, name: str) -> ast.keyword | None:
    """Return a keyword argument of a call; None if it has none of this name."""
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return next((each for each in keywords if each.arg == name), None)


def with_option(
    calls: Sequence[tuple[SourceFile, ast.expr]], name: str, value: str | None
) -> tuple[FileEdits, ...]:
    """Set an option of some calls of `torch.compile`, or drop it if the value is None.

    Nothing is returned if a call hides its options behind `**`.
    """
    by_file: dict[str, list[Edit]] = {}
    for file, call in calls:
        hidden = isinstance(call, ast.Call) and any(each.arg is None for each in call.keywords)
        if hidden:
            return ()
        edit = _option_edit(file.text, call, name, value)
        if edit is not None:
            by_file.setdefault(file.path, []).append(edit)
    return tuple(FileEdits(path, tuple(edits)) for path, edits in by_file.items())


def with_option_for(
    calls: Sequence[tuple[SourceFile, ast.expr]], old: str, name: str, value: str
) -> tuple[FileEdits, ...]:
    """Set an option of some calls of `torch.compile` in place of another one that they may have."""
    others = [each for each in calls if keyword_of(each[1], old) is None]
    files = list(with_option(others, name, value))
    for file, call in calls:
        if (keyword := keyword_of(call, old)) is not None:
            edit = Edit(*span(file.text, keyword), f"{name}={value}")
            files.append(FileEdits(file.path, (edit,)))
    options = [each for _, call in calls if isinstance(call, ast.Call) for each in call.keywords]
    return () if any(each.arg is None for each in options) else tuple(files)


def _option_edit(text: str, call: ast.expr, name: str, value: str | None) -> Edit | None:
    keyword = keyword_of(call, name)
    if keyword is None:
        return None if value is None else _added_option(text, call, f"{name}={value}")
    if value is not None:
        return Edit(*span(text, keyword.value), value)
    return _dropped_option(text, call, keyword)


def _added_option(text: str, call: ast.expr, option: str) -> Edit:
    _, end = span(text, call)
    if not isinstance(call, ast.Call):
        return Edit(end, end, f"({option})")
    arguments = _arguments(call)
    if not arguments:
        return Edit(end - 1, end - 1, option)
    last = max(span(text, each)[1] for each in arguments)
    return Edit(last, last, f", {option}")


def _dropped_option(text: str, call: ast.expr, keyword: ast.keyword) -> Edit:
    start, end = span(text, keyword)
    spans = [span(text, each) for each in _arguments(call) if each is not keyword]
    before = [each for each in spans if each[1] <= start]
    after = [each for each in spans if each[0] >= end]
    if before:
        return Edit(max(each[1] for each in before), end, "")
    return Edit(start, min((each[0] for each in after), default=end), "")


def _arguments(call: ast.expr) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords] if isinstance(call, ast.Call) else []


class PassedArgument:
    """The expression that a call of a compiled function passes for an argument."""

    def __init__(
        self, file: SourceFile, call: ast.Call, value: ast.expr, frame: Frame, suffix: str = ""
    ) -> None:
        self.file = file
        self.call = call
        self.value = value
        self.frame = frame
        # What follows the expression for the part of it that changes, such as `['x']`.
        self.suffix = suffix

    @property
    def text(self) -> str:
        """The expression as the user wrote it."""
        return source_of(self.file.text, self.value)

    def wrapped(self, template: str) -> FileEdits:
        """Replace the expression, `{}` in the template, where it is passed."""
        text = self.text
        is_simple = isinstance(self.value, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        inner = text if is_simple or not template.startswith("{}") else f"({text})"
        edit = Edit(*span(self.file.text, self.value), template.replace("{}", inner))
        return FileEdits(self.file.path, (edit,))


def passed_arguments(
    group: RecompileGroup, context: ProgramContext, source: str
) -> list[PassedArgument]:
    """Return what each call passes for an argument; nothing if one call is not understood."""
    slot = slot_of(source)
    if slot is None or not context.is_called_directly(group):
        return []
    function = _function_of(group, context)
    if function is None:
        return []
    found = []
    for frame in context.call_frames(group):
        file = context.source(frame.file) if context.is_yours(frame.file) else None
        call = file.call_at(frame) if file is not None and file.matches(frame) else None
        if file is None or call is None:
            return []
        names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
        is_method = names[:1] == ["self"]
        values = arguments_for(call, function, slot, is_method)
        if len(values) != 1 or values[0].slot is not None or values[0].is_default:
            return []
        suffix = part_of_argument(source, function)
        found.append(PassedArgument(file, call, values[0].value, frame, suffix))
    return found


def _function_of(group: RecompileGroup, context: ProgramContext) -> Function | None:
    file = context.source(group.file)
    return file.function_of(context.code_of(group)) if file is not None else None


def part_of_argument(source: str, function: Function) -> str:
    """Return what follows the argument in Dynamo's name of a value: `['x']` in `L['b']['x']`."""
    match = _ARGUMENT.match(source)
    if match is None:
        return ""
    rest = source[match.end() :]
    collecting = [each.arg for each in (function.args.vararg, function.args.kwarg) if each]
    # The first index tells which of the collected arguments it is.
    return rest.partition("]")[2] if match[1] in collecting else rest


def statements_before(
    arguments: Sequence[tuple[PassedArgument, Callable[[str], list[str]]]],
    imports: Sequence[str] = (),
) -> tuple[FileEdits, ...]:
    """Insert statements about arguments in front of the calls that pass them.

    The function of each argument gets its expression and returns the statements. An argument that
    is not a name is bound to one first. Nothing is returned where that could change what happens.
    """
    edits: dict[str, list[Edit]] = {}
    files: dict[str, SourceFile] = {}
    for argument, statements in arguments:
        found = _edits_before(argument, statements)
        if not found:
            return ()
        edits.setdefault(argument.file.path, []).extend(found)
        files[argument.file.path] = argument.file
    result = []
    for path, file in files.items():
        added = missing_imports(file.text, imports)
        inserted = insert_at_top(file.text, added, [])
        result.append(FileEdits(path, tuple(dict.fromkeys([*inserted, *edits[path]]))))
    return tuple(result)


def _edits_before(
    argument: PassedArgument, statements: Callable[[str], list[str]]
) -> tuple[Edit, ...]:
    file = argument.file
    around = list(file.around(argument.call))
    statement = next((each for each in around if isinstance(each, ast.stmt)), None)
    inside = around[: around.index(statement)] if statement is not None else []
    if (
        not isinstance(statement, _PLAIN_STATEMENTS)
        or not owns_its_lines(file.text, statement)
        or any(isinstance(each, _CONDITIONAL) for each in inside)
    ):
        return ()
    indent = indent_of(file.text, statement)
    if isinstance(argument.value, ast.Name):
        lines = [f"{indent}{each}" for each in statements(argument.text)]
        return (insert_lines(file.text, statement.lineno, lines),)
    if isinstance(argument.value, ast.Attribute | ast.Subscript) and is_plain(argument.value):
        lines = [f"{indent}{each}" for each in statements(argument.text)]
        return (insert_lines(file.text, statement.lineno, lines),)
    if not _is_evaluated_first(argument):
        return ()
    name = _free_name(file, argument)
    lines = [f"{indent}{name} = {argument.text}"]
    lines += [f"{indent}{each}" for each in statements(name)]
    return (
        insert_lines(file.text, statement.lineno, lines),
        Edit(*span(file.text, argument.value), name),
    )


_CONDITIONAL = (
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda,
    ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await, ast.Yield,
)  # fmt: skip


def is_plain(node: ast.expr) -> bool:
    """Return whether an expression only reads names, attributes and constant items."""
    allowed = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
    return all(isinstance(each, allowed) for each in ast.walk(node))


def _is_evaluated_first(argument: PassedArgument) -> bool:
    """Return whether nothing else is computed before the expression in its statement."""
    call = argument.call
    earlier: list[ast.expr] = [call.func]
    for each in (*call.args, *(keyword.value for keyword in call.keywords)):
        if each is argument.value:
            break
        earlier.append(each)
    if not all(is_plain(each) for each in earlier):
        return False
    # What contains the call may compute something before it, such as `a() + f(x)`.
    inner: ast.AST = call
    for outer in argument.file.around(call):
        if outer is inner:
            continue
        if isinstance(outer, ast.stmt):
            return True
        children = [each for each in ast.iter_child_nodes(outer) if isinstance(each, ast.expr)]
        before = children[: next((n for n, c in enumerate(children) if c is inner), 0)]
        if not all(is_plain(each) for each in before):
            return False
        inner = outer
    return True


def _free_name(file: SourceFile, argument: PassedArgument) -> str:
    used = {node.id for node in ast.walk(file.tree) if isinstance(node, ast.Name)}
    base = "compiled_input"
    return next(name for name in (base, *(f"{base}_{n}" for n in range(2, 99))) if name not in used)


def setting_edits(
    context: ProgramContext, statements: Sequence[str], imports: Sequence[str]
) -> tuple[FileEdits, ...]:
    """Insert statements below the imports of the main file; nothing if it is not the user's."""
    file = context.source(context.main_file) if context.main_file else None
    if file is None or not context.is_yours(context.main_file):
        return ()
    return (FileEdits(file.path, tuple(insert_settings(file.text, imports, statements))),)


def argument_sizes(group: RecompileGroup, context: ProgramContext) -> dict[str, list[int]]:
    """Return the sizes of arguments that change in a group, by source: tied ones together."""
    found: dict[str, list[int]] = {}
    for source, dim in _sizes(group, context):
        dims = found.setdefault(source, [])
        if dim not in dims:
            dims.append(dim)
    return {source: sorted(dims) for source, dims in found.items()}


def _sizes(group: RecompileGroup, context: ProgramContext) -> Iterator[tuple[str, int]]:
    if group.kind == "size" and group.dim is not None:
        yield group.source, group.dim
    for change in context.changes(group):
        if change.kind == "size" and change.dim is not None and change.place == "argument":
            yield change.source, change.dim
