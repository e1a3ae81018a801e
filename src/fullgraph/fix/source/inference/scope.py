"""The function around a graph break, its class, and facts that hold in the whole function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.names import arguments_of, imports_of, is_none, qualified_name

_NUMBERS = ("int", "float", "bool")
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_BUFFERS = ("torch.nn.Buffer", "torch.nn.parameter.Buffer")
# Modules whose functions take and return tensors.
_OPERATOR_MODULES = (
    "torch.nn.functional.",
    "torch.linalg.",
    "torch.special.",
    "torch.fft.",
    "torch.Tensor.",
)


class Scope:
    """A function, and what its file says about its arguments and about attributes of `self`."""

    def __init__(self, tree: ast.Module, function: ast.FunctionDef) -> None:
        self.tree = tree
        self.function = function
        self.imports = imports_of(tree)

    def torch_name(self, function: ast.expr) -> str:
        """Return `relu` for `F.relu` and `torch.relu`; empty for other functions."""
        name = qualified_name(function, self.imports)
        for prefix in _OPERATOR_MODULES:
            if name.startswith(prefix):
                return name.removeprefix(prefix)
        rest = name.removeprefix("torch.")
        return rest if name.startswith("torch.") and "." not in rest else ""

    # Arguments

    @cached_property
    def arguments(self) -> dict[str, ast.arg]:
        """The arguments of the function by name."""
        return {argument.arg: argument for argument in arguments_of(self.function)}

    def is_number_argument(self, name: str) -> bool:
        """Check for an annotation such as `int`, or a default that is a plain value."""
        argument = self.arguments.get(name)
        if argument is None:
            return False
        if isinstance(argument.annotation, ast.Name) and argument.annotation.id in _NUMBERS:
            return True
        default = self._defaults.get(name)
        is_value = isinstance(default, ast.Constant) and default.value is not None
        return argument.annotation is None and is_value

    def is_tensor_argument(self, name: str) -> bool:
        """Check whether an argument is annotated as a tensor, and as nothing else."""
        argument = self.arguments.get(name)
        annotation = argument.annotation if argument else None
        full = qualified_name(annotation, {}) if annotation else ""
        return full.rpartition(".")[2] in torch_ops.TENSOR_CLASSES

    def is_floating_argument(self, name: str) -> bool:
        """Check whether an argument is annotated as floating point, or as optionally so."""
        argument = self.arguments.get(name)
        annotation = ast.unparse(argument.annotation) if argument and argument.annotation else ""
        return any(word in annotation for word in torch_ops.FLOAT_TENSOR_CLASSES)

    @cached_property
    def _defaults(self) -> dict[str, ast.expr | None]:
        args = self.function.args
        positional = [*args.posonlyargs, *args.args]
        found: dict[str, ast.expr | None] = dict(
            zip([a.arg for a in positional[::-1]], args.defaults[::-1], strict=False)
        )
        found |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)}
        return found

    # Attributes of self

    @cached_property
    def owner(self) -> ast.ClassDef | None:
        """The innermost class around the function; None outside of classes."""
        line = self.function.lineno
        classes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]
        around = [node for node in classes if node.lineno <= line <= (node.end_lineno or 0)]
        return max(around, key=lambda node: node.lineno, default=None)

    @cached_property
    def _classes(self) -> list[ast.ClassDef]:
        """The owner, and the classes of the file that it inherits from or that inherit from it."""
        classes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]
        owner = self.owner
        if owner is None:
            return []
        above = _reachable(owner, lambda node: [c for c in classes if c.name in _bases(node)])
        below = _reachable(owner, lambda node: [c for c in classes if node.name in _bases(c)])
        return [each for each in classes if each is owner or each in (*above, *below)]

    @cached_property
    def _assigned(self) -> dict[str, list[ast.expr | None]]:
        """What the classes assign to attributes of self; None for a part of a value."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in (each for owner in self._classes for each in ast.walk(owner)):
            for name, value in _attribute_bindings(node):
                found.setdefault(name, []).append(value)
        return found

    @cached_property
    def _registered(self) -> dict[str, ast.expr]:
        """The first values of the buffers that the classes register."""
        found: dict[str, ast.expr] = {}
        for node in (each for owner in self._classes for each in ast.walk(owner)):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="register_buffer"),
                    args=[ast.Constant(value=str() as name), value, *_],
                ):
                    found[name] = value
        return found

    @cached_property
    def buffers(self) -> frozenset[str]:
        """Attributes that are buffers."""
        made = {n for n, values in self._assigned.items() if any(map(self._is_buffer, values))}
        return frozenset(made | set(self._registered))

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Attributes that are parameters wherever a class assigns them."""
        return frozenset(n for n, vs in self._assigned.items() if all(map(self._is_parameter, vs)))

    @cached_property
    def tensor_attributes(self) -> frozenset[str]:
        """Attributes that are buffers, parameters or other tensors, or None."""
        made = {n for n, vs in self._assigned.items() if all(map(self._is_tensor_or_none, vs))}
        only_none = {n for n in made if all(map(_is_none, self._assigned[n]))}
        return self.buffers | (made - only_none)

    @cached_property
    def zero_dim_buffers(self) -> frozenset[str]:
        """Buffers without dimensions that no class assigns again."""
        return frozenset(
            name
            for name, value in self._registered.items()
            if name not in self._assigned and self._is_zero_dim(value)
        )

    def is_number_attribute(self, name: str) -> bool:
        """Check whether the classes only assign plain values to an attribute."""
        values = self._assigned.get(name, [])
        return (
            bool(values)
            and name not in self.buffers
            and all(isinstance(value, ast.Constant | ast.Name | ast.Attribute) for value in values)
        )

    def module(self, name: str) -> str:
        """Return the torch class of an attribute that is a stateless module without randomness.

        Empty for other attributes.
        """
        values = self._assigned.get(name, [])
        if len(values) != 1 or not isinstance(values[0], ast.Call):
            return ""
        if self._module_class(values[0]) == "Sequential" and values[0].args:
            parts = [self._stateless_module(part) for part in values[0].args]
            return "Sequential" if all(parts) else ""
        return self._stateless_module(values[0])

    def returns_tensor(self, name: str) -> bool:
        """Check whether an attribute is a module of torch that returns a tensor when called."""
        values = self._assigned.get(name, [])
        kinds = [self._module_class(value) for value in values if not _is_none(value)]
        without = torch_ops.MODULES_WITHOUT_TENSOR_RESULT
        return bool(kinds) and all(kind and kind not in without for kind in kinds)

    def _module_class(self, value: ast.expr | None) -> str:
        """Return `Linear` for `nn.Linear(4, 4)`; empty if no class of `torch.nn` is called."""
        full = self._maker(value)
        name = full.rpartition(".")[2]
        return name if full.startswith("torch.nn.") and name[:1].isupper() else ""

    def _stateless_module(self, value: ast.expr) -> str:
        kind = self._module_class(value)
        return kind if kind in torch_ops.STATELESS_MODULES else ""

    def _maker(self, value: ast.expr | None) -> str:
        """Return the full name of the function that a value is the result of; empty without one."""
        return qualified_name(value.func, self.imports) if isinstance(value, ast.Call) else ""

    def _is_parameter(self, value: ast.expr | None) -> bool:
        return self._maker(value) in _PARAMETERS

    def _is_buffer(self, value: ast.expr | None) -> bool:
        return self._maker(value) in _BUFFERS

    def _is_tensor_or_none(self, value: ast.expr | None) -> bool:
        is_made = isinstance(value, ast.Call) and self.torch_name(value.func) in torch_ops.FACTORIES
        return _is_none(value) or is_made or self._is_parameter(value) or self._is_buffer(value)

    def _is_zero_dim(self, value: ast.expr) -> bool:
        """Check for `torch.tensor(0)` and `torch.zeros(())`."""
        if not isinstance(value, ast.Call) or not value.args:
            return False
        maker, first = self.torch_name(value.func), value.args[0]
        if maker == "tensor":
            return isinstance(first, ast.Constant)
        is_empty = isinstance(first, ast.Tuple | ast.List) and not first.elts
        return maker in torch_ops.SIZED_FACTORIES and is_empty


def self_attribute(node: ast.AST) -> str:
    """Return `x` for `self.x`; empty for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else ""
    return ""


def _is_none(value: ast.expr | None) -> bool:
    return value is not None and is_none(value)


def _attribute_bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the attributes of self that a statement assigns, and the values."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if self_attribute(target):
                    yield self_attribute(target), value
                elif isinstance(target, ast.Tuple | ast.List):
                    yield from ((n, None) for n in map(self_attribute, target.elts) if n)
        case ast.AnnAssign(target=target, value=ast.expr() as value) if self_attribute(target):
            yield self_attribute(target), value


def _bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}


def _reachable(
    start: ast.ClassDef, neighbors: Callable[[ast.ClassDef], list[ast.ClassDef]]
) -> list[ast.ClassDef]:
    """Return the classes that repeated steps from a class lead to."""
    found: list[ast.ClassDef] = []
    waiting = [start]
    while waiting:
        for each in neighbors(waiting.pop()):
            if each not in found:
                found.append(each)
                waiting.append(each)
    return found
