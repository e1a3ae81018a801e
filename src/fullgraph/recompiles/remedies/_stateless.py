"""Whether a class or a function that is made in each call can be made once instead.

It must have no state that the calls would share afterwards, and nothing may tell whether two of
them are the same object.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from fullgraph.analysis.user_lines.bindings import bindings_in
from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.torch_ops import words

Definition = ast.ClassDef | ast.FunctionDef | ast.Assign

_BASES = words("object typing.NamedTuple torch.nn.Module")
_DECORATORS = words("property staticmethod")
_CLASS_DECORATORS = words("dataclass dataclasses.dataclass")
_CLASS_FACTORIES = words("collections.namedtuple dataclasses.make_dataclass typing.NamedTuple")
# With these, a class or function is compared, or its attributes are written, without its name.
_TELLING_NAMES = words("cls delattr id setattr type vars")
_TELLING_ATTRIBUTES = words("__class__ __dict__ __qualname__ __subclasses__")
# With these, a function reads what its source does not show.
_READING = words("eval exec getattr globals input open vars")


def is_stateless(file: SourceFile, definition: Definition, users: Iterable[SourceFile]) -> bool:
    """Return whether making something once certainly does the same as making it in each call.

    `users` are the files that get what is made.
    """
    is_function = isinstance(definition, ast.FunctionDef)
    return (
        (is_function or not any(_tells_objects_apart(each) for each in (file, *users)))
        and _only_used_to_make(file, definition)
        and has_no_state(file, definition)
    )


def has_no_state(file: SourceFile, definition: Definition) -> bool:
    """Return whether a definition evaluates only constants, and what it uses does not change."""
    match definition:
        case ast.FunctionDef():
            return _is_plain_function(file, definition) and _uses_fixed_names(file, definition)
        case ast.ClassDef():
            return _is_plain_class(file, definition)
        case ast.Assign(value=ast.Call(func=function, args=arguments, keywords=[])):
            name = qualified_name(function, file.imports)
            is_known = name in _CLASS_FACTORIES
            return is_known and all(_is_literal(each) for each in arguments)
    return False


def name_of(definition: Definition) -> str:
    """Return the name that a definition binds."""
    target = definition.targets[0] if isinstance(definition, ast.Assign) else definition
    return str(getattr(target, "id", getattr(target, "name", "")))


def free_names(definition: Definition) -> set[str]:
    """Return the names that a definition uses without binding them."""
    if isinstance(definition, ast.ClassDef):
        # The names of a class are not those of its methods.
        methods = [each for each in definition.body if isinstance(each, ast.FunctionDef)]
        others = [each for each in definition.body if each not in methods]
        parts = [*definition.bases, *definition.decorator_list, *others]
        return {*_loads(*parts)}.union(*(free_names(each) for each in methods))
    own = {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            own.add(node.name)
    return {*_loads(definition)} - own


def _loads(*nodes: ast.AST) -> Iterator[str]:
    for node in (each for part in nodes for each in ast.walk(part)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _tells_objects_apart(file: SourceFile) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in _TELLING_NAMES)
        or (isinstance(node, ast.Attribute) and node.attr in _TELLING_ATTRIBUTES)
        or (isinstance(node, ast.Compare) and _compares_objects(node))
        for node in file.nodes
    )


def _compares_objects(node: ast.Compare) -> bool:
    """Return whether an object is compared with something else than None."""
    parts = [node.left, *node.comparators]
    is_identity = any(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
    has_none = any(isinstance(each, ast.Constant) and each.value is None for each in parts)
    return is_identity and not has_none


def _only_used_to_make(file: SourceFile, definition: Definition) -> bool:
    """Return whether a class is only called, and a function only passed as a backend."""
    name = name_of(definition)
    for node in file.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            around = file.parents.get(id(node))
            is_made = isinstance(around, ast.Call) and around.func is node
            is_passed = isinstance(around, ast.keyword) and around.arg == "backend"
            is_function = isinstance(definition, ast.FunctionDef)
            if not (is_passed if is_function else is_made):
                return False
    return True


def _is_plain_class(file: SourceFile, definition: ast.ClassDef) -> bool:
    bases = [qualified_name(each, file.imports) for each in definition.bases]
    decorators = [_decorator(file, each) for each in definition.decorator_list]
    is_plain = not definition.keywords and _CLASS_DECORATORS.issuperset(decorators)
    return is_plain and _BASES.issuperset(bases) and all(
        _is_plain_member(file, each) for each in definition.body
    )  # fmt: skip


def _decorator(file: SourceFile, node: ast.expr) -> str:
    """Return the name of a decorator; empty if its arguments are not all constants."""
    if not isinstance(node, ast.Call):
        return qualified_name(node, file.imports)
    is_constant = not node.args and all(_is_immutable(each.value) for each in node.keywords)
    return qualified_name(node.func, file.imports) if is_constant else ""


def _is_plain_member(file: SourceFile, node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name()], value=value):
            return _is_immutable(value)
        case ast.AnnAssign(target=ast.Name(), value=value, annotation=annotation):
            return (value is None or _is_immutable(value)) and _is_known(file, annotation)
        case ast.FunctionDef(decorator_list=decorators):
            names = {qualified_name(each, file.imports) for each in decorators}
            return _DECORATORS.issuperset(names) and _is_plain_function(file, node, decorated=True)
    return False


def _is_plain_function(
    file: SourceFile, function: ast.FunctionDef, *, decorated: bool = False
) -> bool:
    """Return whether the definition of a function evaluates only constants and known names."""
    arguments = function.args
    defaults = [*arguments.defaults, *(each for each in arguments.kw_defaults if each)]
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    annotations = [*(each.annotation for each in given), function.returns]
    return (
        (decorated or not function.decorator_list)
        and all(_is_immutable(each) for each in defaults)
        and all(_is_known(file, each) for each in annotations if each is not None)
    )


def _is_known(file: SourceFile, node: ast.expr) -> bool:
    """Return whether the names of an expression are imported or Python's own."""
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return all(name in file.imports or hasattr(builtins, name) for name in names)


def _is_immutable(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(_is_immutable(each) for each in node.elts)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)


def _is_literal(node: ast.expr) -> bool:
    """Return whether an expression has only constants in lists and tuples, or names of types."""
    allowed = (ast.Constant, ast.List, ast.Tuple, ast.expr_context)
    return all(isinstance(each, allowed) for each in ast.walk(node))


def _uses_fixed_names(file: SourceFile, function: ast.FunctionDef) -> bool:
    """Return whether nothing that a function reads, itself or in what it calls, ever changes."""
    functions = [function]
    for current in functions:
        for name in free_names(current):
            bound = bindings_in(file.tree, name)
            if not bound and hasattr(builtins, name) and name not in _READING:
                continue
            if len(bound) != 1 or _is_rebound(file, name) or file.has_hidden_writes:
                return False
            if isinstance(bound[0], ast.FunctionDef):
                functions += [bound[0]] if bound[0] not in functions else []
            elif not (
                file.imports.get(name, "").partition(".")[0] == "torch"
                or _is_constant(bound[0])
                or _is_appended_to(file, current, name)
            ):
                return False
    return True


def _is_rebound(file: SourceFile, name: str) -> bool:
    return any(isinstance(node, ast.Global) and name in node.names for node in file.nodes)


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and _is_immutable(node.value)


def _is_appended_to(file: SourceFile, function: ast.FunctionDef, name: str) -> bool:
    """Return whether a function only adds to a list, so that its content decides nothing."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name:
            attribute = file.parents.get(id(node))
            call = file.parents.get(id(attribute))
            is_append = isinstance(attribute, ast.Attribute) and attribute.attr == "append"
            if not is_append or not isinstance(file.parents.get(id(call)), ast.Expr):
                return False
    return True
