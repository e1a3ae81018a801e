"""Decides from its source whether a function is pure.

The analysis covers the function and the functions and methods of the same file that it calls. Other
functions are pure only if `known_functions.py` lists them. Everything else is a finding of the kind
"unknown", so a function without findings is pure.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from fullgraph.fix.purity.created_objects import creates_object, names_of_created_objects
from fullgraph.fix.purity.findings import Finding, FindingKind
from fullgraph.fix.purity.known_functions import (
    ADDRESS_METHODS,
    MUTATING_METHODS,
    RANDOM_METHODS,
    is_constant,
    is_known_pure,
    is_pure_method,
    nondeterminism_of,
    side_effect_of,
)
from fullgraph.fix.source.module_symbols import ModuleSymbols
from fullgraph.fix.source.names import (
    Function,
    all_in,
    arguments_of,
    bound_in,
    code_of,
    is_false,
    is_none,
    qualified_name,
    root_of,
    targets_of,
)

_PURE_DECORATORS = ("staticmethod", "classmethod", "property", "torch.no_grad", "override")
_BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__class__"}
# An augmented assignment such as `n += 1` replaces these values; it mutates tensors and lists.
_IMMUTABLE_ANNOTATIONS = ("int", "float", "bool", "str")


def static_findings(tree: ast.Module, name: str) -> list[Finding] | None:
    """Return the findings for a function of a file; None if the file has no such function.

    `name` is the name of a function, or `Class.method`.
    """
    module = ModuleSymbols(tree)
    function = module.functions.get(name)
    if function is None:
        return None
    findings = _FunctionAnalysis(module, function, name).findings()
    return sorted(dict.fromkeys(findings), key=lambda finding: (finding.line, finding.what))


def impurities(tree: ast.Module, expression: ast.expr, local: set[str]) -> list[Finding]:
    """Return the findings for an expression in a function that has these local names."""
    module = ModuleSymbols(tree)
    no_arguments = ast.arguments([], [], None, [], [], None, [])
    function = ast.Lambda(args=no_arguments, body=expression)
    return list(_FunctionAnalysis(module, function, "", local=local).findings())


class _FunctionAnalysis:
    """The analysis of one function; a called function of the same file gets its own.

    `analyzed` has the names of functions that need no further analysis. `inside` is the name to
    show in findings if the function is not the one that is checked.
    """

    def __init__(
        self,
        module: ModuleSymbols,
        function: Function,
        name: str,
        *,
        local: set[str] | None = None,
        analyzed: set[str] | None = None,
        inside: str = "",
    ) -> None:
        self._module = module
        self._function = function
        self._name = name
        self._inside = inside
        self._analyzed = {name} if analyzed is None else analyzed
        self._local = (local or set()) | _local_names(function)
        self._created = names_of_created_objects(function, module.imports)
        # Parts of called expressions such as `a.b` in `a.b()`. They are checked as calls.
        self._called_parts = {
            id(part)
            for node in code_of(function)
            if isinstance(node, ast.Call)
            for part in _attribute_chain(node.func)
        }

    def findings(self) -> Iterator[Finding]:
        """Yield the findings in the function and in the functions it calls."""
        for decorator in getattr(self._function, "decorator_list", ()):
            shown = ast.unparse(decorator)
            if shown.partition("(")[0] not in _PURE_DECORATORS:
                yield self._finding("unknown", decorator, f"is wrapped by {shown}")
        for node in code_of(self._function):
            yield from self._node(node)

    def _finding(self, kind: FindingKind, node: ast.AST, what: str) -> Finding:
        return Finding(kind, getattr(node, "lineno", 0), what, self._inside)

    def _node(self, node: ast.AST) -> Iterator[Finding]:
        match node:
            case ast.Global() | ast.Nonlocal():
                scope = "global" if isinstance(node, ast.Global) else "enclosing"
                for name in node.names:
                    yield self._finding("state", node, f"assigns to the {scope} name {name}")
            case ast.Name(ctx=ast.Load()):
                yield from self._name_read(node)
            case ast.Assign() | ast.AnnAssign() | ast.Delete() | ast.For():
                for target in targets_of(node):
                    yield from self._assignment(target)
            case ast.AugAssign():
                yield from self._augmented_assignment(node)
            case ast.Call():
                yield from self._output_arguments(node)
                yield from self._call(node)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                yield self._finding("state", node, "is a generator or a coroutine")
            case ast.Attribute(attr="grad", ctx=ast.Load()):
                yield self._finding("changing", node, "reads a gradient, which backward sets")
            case ast.Attribute(ctx=ast.Load()) if id(node) not in self._called_parts:
                yield from self._attribute_read(node)

    # Reads

    def _name_read(self, node: ast.Name) -> Iterator[Finding]:
        module, name = self._module, node.id
        # A value imported from a module that is not in the table may change.
        full_name = module.imports.get(name, "")
        is_called = id(node) in self._called_parts
        may_change = "." in full_name and not is_constant(full_name) and not is_called
        is_fixed = (
            name in self._local
            or (name in module.imports and not may_change)
            or name in module.constants
            or name in module.functions
            or name in module.classes
        )
        if not is_fixed and name not in _BUILTIN_NAMES:
            yield self._finding("global", node, f"reads the global {name}, which may change")

    def _attribute_read(self, node: ast.Attribute) -> Iterator[Finding]:
        """Check an attribute of a class of the file, or of a module that is not in the table."""
        root = root_of(node)
        if root in self._local:
            return
        name = qualified_name(node, self._module.imports)
        is_external = root in self._module.imports and not is_constant(name)
        if is_external or root in self._module.classes:
            yield self._finding("global", node, f"reads {ast.unparse(node)}, which may change")

    # Mutations

    def _assignment(self, target: ast.expr) -> Iterator[Finding]:
        """Check the attributes and elements that an assignment or `del` sets."""
        for node in ast.walk(target):
            if not isinstance(node, ast.Attribute | ast.Subscript):
                continue
            if isinstance(node.ctx, ast.Load) or self._is_created(node.value):
                continue
            kind: FindingKind = "input" if root_of(node) in self._local else "state"
            yield self._finding(kind, node, f"assigns to {ast.unparse(node)}")

    def _augmented_assignment(self, node: ast.AugAssign) -> Iterator[Finding]:
        if not isinstance(node.target, ast.Name):
            yield from self._assignment(node.target)
        elif node.target.id not in self._created and not self._is_immutable(node.target.id):
            yield self._finding("input", node, f"may mutate {node.target.id} in place")

    def _is_immutable(self, name: str) -> bool:
        """Return whether a name is a parameter with the annotation of a number or string."""
        return any(
            each.annotation is not None and ast.unparse(each.annotation) in _IMMUTABLE_ANNOTATIONS
            for each in arguments_of(self._function)
            if each.arg == name
        )

    def _is_created(self, node: ast.expr) -> bool:
        """Return whether an expression is an object that the function has created."""
        if isinstance(node, ast.Name):
            return node.id in self._created
        return creates_object(node, self._module.imports)

    def _output_arguments(self, node: ast.Call) -> Iterator[Finding]:
        """Check tensors that a call mutates because of `out=` or `inplace=True`."""
        for keyword in node.keywords:
            if keyword.arg == "out" and not is_none(keyword.value):
                if not all_in(keyword.value, self._created):
                    yield self._finding("input", node, f"mutates {ast.unparse(keyword.value)}")
            elif keyword.arg == "inplace" and not is_false(keyword.value):
                yield self._finding("input", node, f"{ast.unparse(node.func)}() works in place")

    # Calls

    def _call(self, node: ast.Call) -> Iterator[Finding]:
        name = qualified_name(node.func, self._module.imports)
        is_of_object = root_of(node.func) in self._local or not name
        if isinstance(node.func, ast.Attribute) and is_of_object:
            yield from self._method_call(node, node.func)
        elif name in self._module.functions:
            yield from self._called_function(name)
        elif name in self._local:
            yield self._finding("unknown", node, f"calls {name}, which is a variable")
        elif name in self._module.classes:
            yield from self._called_function(f"{name}.__init__")
        else:
            yield from self._external_call(node, name)

    def _called_function(self, name: str) -> Iterator[Finding]:
        """Yield the findings of a function of the same file, once."""
        function = self._module.functions.get(name)
        if function is None or name in self._analyzed:
            return
        self._analyzed.add(name)
        analysis = _FunctionAnalysis(
            self._module, function, name, analyzed=self._analyzed, inside=name
        )
        yield from analysis.findings()

    def _external_call(self, node: ast.Call, name: str) -> Iterator[Finding]:
        """Check a call of a builtin, of an imported function, or of a method of a global."""
        shown = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        is_of_global = "." in name and root_of(node.func) not in self._module.imports
        if name == "id" or last in ADDRESS_METHODS:
            yield self._finding("address", node, f"{shown}() depends on a memory address")
        elif is_of_global and last in MUTATING_METHODS:
            yield self._finding("state", node, f"{shown}() mutates a global")
        elif what := side_effect_of(name):
            yield self._finding("effect", node, f"{shown}() {what}")
        elif what := nondeterminism_of(name):
            yield self._finding("changing", node, f"{shown}() {what}")
        elif is_of_global and is_pure_method(last):
            return  # If the global may change, reading it is a finding of its own.
        elif not is_known_pure(name):
            yield self._finding("unknown", node, f"calls {shown}, which was not analyzed")

    def _method_call(self, node: ast.Call, method: ast.Attribute) -> Iterator[Finding]:
        """Check a method of a local object, or of the result of an expression."""
        name, shown = method.attr, ast.unparse(method)
        class_name = self._name.rpartition(".")[0]
        is_of_self = isinstance(method.value, ast.Name) and method.value.id == "self"
        if is_of_self and f"{class_name}.{name}" in self._module.functions:
            yield from self._called_function(f"{class_name}.{name}")
        elif name in ADDRESS_METHODS:
            yield self._finding("address", node, f"{shown}() depends on a memory address")
        elif name in RANDOM_METHODS:
            yield self._finding("changing", node, f"{shown}() draws random numbers")
        elif name in MUTATING_METHODS or (name.endswith("_") and not name.endswith("__")):
            if not self._is_created(method.value):
                yield self._finding("input", node, f"{shown}() mutates in place")
        elif (is_of_self and class_name) or not is_pure_method(name):
            # An inherited method may do anything, whatever the method of a tensor does.
            yield self._finding("unknown", node, f"calls {shown}, which was not analyzed")


def _local_names(function: Function) -> set[str]:
    """Return the parameters and the names that the function binds, except by an import."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in code_of(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return {each.arg for each in arguments_of(function)} | (bound_in(function) - imported)


def _attribute_chain(node: ast.expr) -> Iterator[ast.expr]:
    """Yield `a.b.c`, `a.b` and `a` for `a.b.c`."""
    while isinstance(node, ast.Attribute):
        yield node
        node = node.value
    yield node
