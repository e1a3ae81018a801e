"""Whether a function is pure, found by reading it: the same result for the same arguments, and
nothing else. What cannot be told counts as impure, and says so.

Calls are followed into functions and methods of the same file. Of other files only what
`known_functions.py` knows is trusted.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from fullgraph.fix.purity.known_functions import (
    ADDRESS_METHODS,
    CHANGING_METHODS,
    RANDOM_METHODS,
    change_of,
    effect_of,
    is_known_pure,
    is_pure_method,
    is_steady,
)
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted, stored_names
from fullgraph.fix.source.trees import (
    Function,
    all_in,
    arguments_of,
    bound_in,
    code_of,
    is_false,
    is_none,
    root_of,
    targets_of,
)

# effect: prints, writes, waits. state: writes to a global, an attribute or a closure. input: writes
# to an argument. global: reads what may have changed. changing: randomness, the clock. address:
# where something lies in memory. unknown: a call of something that was not read.
FindingKind = Literal["effect", "state", "input", "global", "changing", "address", "unknown"]
_FRESH_CALLS = ("clone", "tolist", "item", "copy", "detach_copy", "to_dense")


class Finding(Struct, frozen=True):
    """One thing that a pure function would not do."""

    kind: FindingKind
    line: int
    what: str
    # The function that does it, where that is one which the function calls.
    function: str = ""
    by: Literal["source", "run"] = "source"


def findings_in(tree: ast.Module, name: str) -> list[Finding] | None:
    """What is impure about a function of a file; None if the file has no such function."""
    module = Definitions(tree)
    node = module.functions.get(name)
    if node is None:
        return None
    found = list(_Reader(module, node, name).findings())
    return sorted(dict.fromkeys(found), key=lambda each: (each.line, each.what))


def impurities(tree: ast.Module, expression: ast.expr, local: set[str]) -> list[Finding]:
    """The same for an expression of a function that has these local names."""
    module = Definitions(tree)
    body = ast.Lambda(args=_no_arguments(), body=expression)
    return list(_Reader(module, body, "", local).findings())


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


class _Reader:
    """Reads one function, and the functions that it calls."""

    def __init__(
        self,
        module: Definitions,
        node: Function,
        name: str,
        local: set[str] | None = None,
        seen: set[str] | None = None,
        inside: str = "",
    ) -> None:
        self._module = module
        self._node = node
        self._name = name
        self._inside = inside
        self._seen = {name} if seen is None else seen
        self._parameters = {each.arg for each in arguments_of(node)}
        self._local = self._parameters | bound_in(node) | (local or set())
        self._fresh = self._fresh_names()
        # What is called is looked at as a call.
        self._called = {
            id(part)
            for each in code_of(node)
            if isinstance(each, ast.Call)
            for part in _chain(each.func)
        }

    def findings(self) -> Iterator[Finding]:
        for decorator in getattr(self._node, "decorator_list", ()):
            shown = ast.unparse(decorator)
            if shown.partition("(")[0] not in _PLAIN_DECORATORS:
                yield self._finding("unknown", decorator, f"is wrapped by {shown}")
        for node in code_of(self._node):
            yield from self._of(node)

    def _finding(self, kind: FindingKind, node: ast.AST, what: str) -> Finding:
        return Finding(kind, getattr(node, "lineno", 0), what, self._inside)

    def _of(self, node: ast.AST) -> Iterator[Finding]:
        match node:
            case ast.Global() | ast.Nonlocal():
                what = "global" if isinstance(node, ast.Global) else "enclosing"
                for name in node.names:
                    yield self._finding("state", node, f"writes to the {what} name {name}")
            case ast.Name(ctx=ast.Load()):
                yield from self._read(node)
            case ast.Assign() | ast.AnnAssign() | ast.Delete() | ast.For():
                for target in targets_of(node):
                    yield from self._written(target)
            case ast.AugAssign():
                yield from self._augmented(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                yield self._finding("state", node, "is a generator or a coroutine")
            case ast.Attribute(attr="grad", ctx=ast.Load()):
                yield self._finding("changing", node, "reads a gradient, which backward sets")
            case ast.Attribute(ctx=ast.Load()) if id(node) not in self._called:
                yield from self._read_attribute(node)

    def _read(self, node: ast.Name) -> Iterator[Finding]:
        module, name = self._module, node.id
        # What is imported by name from somebody else's module may be anything.
        whole = module.imports.get(name, "")
        is_value = "." in whole and not is_steady(whole) and id(node) not in self._called
        known = (
            name in self._local
            or (name in module.imports and not is_value)
            or name in module.constants
            or name in module.functions
            or name in module.classes
        )
        if not known and name not in _BUILTIN_NAMES:
            yield self._finding("global", node, f"reads the global {name}, which may change")

    def _read_attribute(self, node: ast.Attribute) -> Iterator[Finding]:
        """Of a class or a module of somebody's own: anybody may set it."""
        root = root_of(node)
        name = dotted(node, self._module.imports)
        is_foreign = root in self._module.imports and not is_steady(name)
        if root not in self._local and (root in self._module.classes or is_foreign):
            shown = ast.unparse(node)
            yield self._finding("global", node, f"reads {shown}, which may change")

    # Writing

    def _written(self, target: ast.expr) -> Iterator[Finding]:
        for each in ast.walk(target):
            if not isinstance(each, ast.Attribute | ast.Subscript):
                continue
            if not isinstance(each.ctx, ast.Store | ast.Del):
                continue
            if self._is_own(each.value):
                continue
            shown = ast.unparse(each)
            if root_of(each) in self._local:
                yield self._finding("input", each, f"writes to {shown}")
            else:
                yield self._finding("state", each, f"writes to {shown}")

    def _augmented(self, node: ast.AugAssign) -> Iterator[Finding]:
        if isinstance(node.target, ast.Name):
            name = node.target.id
            # A number is replaced, a tensor or a list is changed.
            if name not in self._fresh and not self._is_number(name, node.value):
                yield self._finding("input", node, f"may change {name} in place")
            return
        yield from self._written(node.target)

    def _is_number(self, name: str, value: ast.expr) -> bool:
        for each in arguments_of(self._node):
            if each.arg == name and each.annotation is not None:
                return ast.unparse(each.annotation) in ("int", "float", "bool", "str")
        return False

    def _is_own(self, node: ast.expr) -> bool:
        """Whether the function has made this object; what is inside of it may be another's."""
        if isinstance(node, ast.Name):
            return node.id in self._fresh
        return self._is_fresh(node)

    def _fresh_names(self) -> set[str]:
        """Local names that are only ever bound to objects that the function has made."""
        values: dict[str, list[ast.expr | None]] = {}
        for node in code_of(self._node):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        values.setdefault(target.id, []).append(node.value)
                    else:
                        for name in stored_names(target):
                            values.setdefault(name, []).append(None)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                values.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.For | ast.comprehension | ast.NamedExpr):
                for name in stored_names(node.target):
                    values.setdefault(name, []).append(None)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                for name in stored_names(node.optional_vars):
                    values.setdefault(name, []).append(None)
        return {
            name
            for name, found in values.items()
            if name not in self._parameters and all(map(self._is_fresh, found))
        }

    def _is_fresh(self, value: ast.expr | None) -> bool:
        match value:
            case ast.Constant() | ast.List() | ast.Dict() | ast.Set() | ast.Tuple():
                return True
            case ast.BinOp() | ast.Compare() | ast.JoinedStr():
                return True
            case ast.UnaryOp(op=op):
                # `+x` is x itself.
                return not isinstance(op, ast.UAdd)
            case ast.ListComp() | ast.DictComp() | ast.SetComp():
                return True
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in _FRESH_CALLS:
                return True
            case ast.Call():
                name = dotted(value.func, self._module.imports)
                return name in _MAKERS or _makes_a_tensor(name)
        return False

    # Calling

    def _call(self, node: ast.Call) -> Iterator[Finding]:
        yield from self._outputs(node)
        root = root_of(node.func)
        name = dotted(node.func, self._module.imports)
        if isinstance(node.func, ast.Attribute) and (root in self._local or not name):
            yield from self._method(node, node.func)
        elif name in self._module.functions:
            yield from self._follow(name)
        elif name in self._local:
            yield self._finding("unknown", node, f"calls {name}, which it was given")
        elif name in self._module.classes:
            yield from self._follow(f"{name}.__init__")
        else:
            yield from self._foreign(node, name)

    def _foreign(self, node: ast.Call, name: str) -> Iterator[Finding]:
        shown = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        root = root_of(node.func)
        if name == "id" or last in ADDRESS_METHODS:
            yield self._finding("address", node, f"{shown}() depends on where it lies in memory")
        elif root not in self._module.imports and last in CHANGING_METHODS and "." in name:
            yield self._finding("state", node, f"{shown}() changes a global")
        elif what := effect_of(name):
            yield self._finding("effect", node, f"{shown}() {what}")
        elif what := change_of(name):
            yield self._finding("changing", node, f"{shown}() {what}")
        elif not is_known_pure(name) and not self._is_method_of_global(node, name):
            yield self._finding("unknown", node, f"calls {shown}, which was not read")

    def _is_method_of_global(self, node: ast.Call, name: str) -> bool:
        """A method of a global constant; reading the global is found already."""
        root = root_of(node.func)
        return (
            isinstance(node.func, ast.Attribute)
            and root not in self._module.imports
            and is_pure_method(node.func.attr)
        )

    def _method(self, node: ast.Call, func: ast.Attribute) -> Iterator[Finding]:
        name, shown = func.attr, ast.unparse(func)
        root = root_of(func)
        own = f"{self._name.rpartition('.')[0]}.{name}"
        if root == "self" and isinstance(func.value, ast.Name) and own in self._module.functions:
            yield from self._follow(own)
        elif name in ADDRESS_METHODS:
            yield self._finding("address", node, f"{shown}() depends on where it lies in memory")
        elif name in RANDOM_METHODS:
            yield self._finding("changing", node, f"{shown}() draws random numbers")
        elif name in CHANGING_METHODS or (name.endswith("_") and not name.endswith("__")):
            if not self._is_own(func.value):
                yield self._finding("input", node, f"{shown}() changes it in place")
        elif not is_pure_method(name):
            yield self._finding("unknown", node, f"calls {shown}, which was not read")

    def _outputs(self, node: ast.Call) -> Iterator[Finding]:
        """Tensors that are written to because they are given as `out=` or `inplace=True`."""
        for keyword in node.keywords:
            if keyword.arg == "out" and not is_none(keyword.value):
                if not all_in(keyword.value, self._fresh):
                    yield self._finding("input", node, f"writes to {ast.unparse(keyword.value)}")
            elif keyword.arg == "inplace" and not is_false(keyword.value):
                yield self._finding("input", node, f"{ast.unparse(node.func)}() works in place")

    def _follow(self, name: str) -> Iterator[Finding]:
        node = self._module.functions.get(name)
        if node is None or name in self._seen:
            return
        self._seen.add(name)
        reader = _Reader(self._module, node, name, seen=self._seen, inside=name)
        yield from reader.findings()


def _chain(node: ast.expr) -> Iterator[ast.expr]:
    """`a.b.c`, `a.b` and `a`."""
    while isinstance(node, ast.Attribute):
        yield node
        node = node.value
    yield node


_PLAIN_DECORATORS = ("staticmethod", "classmethod", "property", "torch.no_grad", "override")
_BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__class__"}
_MAKERS = (
    "list", "dict", "set", "tuple", "sorted", "range", "collections.OrderedDict",
    "collections.defaultdict", "collections.Counter", "collections.deque", "copy.deepcopy",
    "numpy.array",
)  # fmt: skip


def _makes_a_tensor(name: str) -> bool:
    """Whether a function never gives back one of its arguments, or a view of one."""
    head, _, last = name.rpartition(".")
    starts = ("zeros", "ones", "full", "empty", "arange", "linspace", "eye", "tensor", "rand")
    return head in ("torch", "numpy") and (
        last.startswith(starts) or last in ("clone", "cat", "stack", "matmul", "einsum")
    )
