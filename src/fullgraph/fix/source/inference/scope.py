"""The function and the class around a branch, and what can be read off them."""

from __future__ import annotations

import ast
from functools import cached_property

from fullgraph.fix.source.names import dotted, imports_of
from fullgraph.fix.source.torch_ops import STEADY_MODULES
from fullgraph.fix.source.trees import arguments_of

_NUMBERS = ("int", "float", "bool")
_FLOATING = ("FloatTensor", "HalfTensor", "DoubleTensor", "BFloat16Tensor")


class Scope:
    def __init__(self, tree: ast.Module, function: ast.FunctionDef) -> None:
        self.tree = tree
        self.function = function
        self.imports = imports_of(tree)

    @cached_property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method the function is."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef) and self.function in node.body:
                return node
        return None

    def torch_name(self, function: ast.expr) -> str:
        """`relu` for `F.relu` and `torch.relu`; empty for what is not torch's."""
        name = dotted(function, self.imports)
        for prefix in ("torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.Tensor."):
            if name.startswith(prefix):
                return name.removeprefix(prefix)
        rest = name.removeprefix("torch.")
        return rest if name.startswith("torch.") and "." not in rest else ""

    # Arguments

    @cached_property
    def arguments(self) -> dict[str, ast.arg]:
        return {argument.arg: argument for argument in arguments_of(self.function)}

    def is_number_argument(self, name: str) -> bool:
        argument = self.arguments.get(name)
        if argument is None:
            return False
        if isinstance(argument.annotation, ast.Name) and argument.annotation.id in _NUMBERS:
            return True
        default = self._defaults.get(name)
        is_value = isinstance(default, ast.Constant) and default.value is not None
        return argument.annotation is None and is_value

    def is_tensor_argument(self, name: str) -> bool:
        argument = self.arguments.get(name)
        annotation = ast.unparse(argument.annotation) if argument and argument.annotation else ""
        return annotation.rpartition(".")[2] in ("Tensor", *_FLOATING, "LongTensor", "BoolTensor")

    def is_floating_argument(self, name: str) -> bool:
        argument = self.arguments.get(name)
        annotation = ast.unparse(argument.annotation) if argument and argument.annotation else ""
        return any(word in annotation for word in _FLOATING)

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
    def _settings(self) -> dict[str, list[ast.expr]]:
        """What the class assigns to attributes of self, anywhere."""
        found: dict[str, list[ast.expr]] = {}
        for node in ast.walk(self.owner) if self.owner else ():
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    name = self_attribute(target)
                    if name:
                        found.setdefault(name, []).append(node.value)
        return found

    @cached_property
    def buffers(self) -> frozenset[str]:
        """Attributes that are buffers, as the class registers them."""
        made = {n for n, values in self._settings.items() if any(map(self._is_buffer, values))}
        return frozenset(made | set(self._registered))

    @cached_property
    def parameters(self) -> frozenset[str]:
        return frozenset(n for n, vs in self._settings.items() if all(map(self._is_parameter, vs)))

    @cached_property
    def single_buffers(self) -> frozenset[str]:
        """Buffers with one element and no dimension."""
        return frozenset(
            name
            for name, value in self._registered.items()
            if name not in self._settings and self._is_single(value)
        )

    @cached_property
    def _registered(self) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for node in ast.walk(self.owner) if self.owner else ():
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="register_buffer"),
                    args=[ast.Constant(value=str() as name), value, *_],
                ):
                    found[name] = value
        return found

    def _is_single(self, value: ast.expr) -> bool:
        """`torch.tensor(0)` or `torch.zeros(())`."""
        if not isinstance(value, ast.Call) or not value.args:
            return False
        maker, first = self.torch_name(value.func), value.args[0]
        if maker == "tensor":
            return isinstance(first, ast.Constant)
        empty = isinstance(first, ast.Tuple | ast.List) and not first.elts
        return maker in ("zeros", "ones", "full", "empty") and empty

    def is_number_attribute(self, name: str) -> bool:
        """Whether the class only ever puts a plain value there."""
        values = self._settings.get(name, [])
        return (
            bool(values)
            and name not in self.buffers
            and all(isinstance(value, ast.Constant | ast.Name | ast.Attribute) for value in values)
        )

    def module(self, name: str) -> str:
        """The torch module that an attribute is, if it draws no numbers and keeps nothing."""
        values = self._settings.get(name, [])
        if len(values) != 1 or not isinstance(values[0], ast.Call):
            return ""
        if dotted(values[0].func, self.imports) == "torch.nn.Sequential" and values[0].args:
            parts = [self._steady(part) for part in values[0].args]
            return "Sequential" if all(parts) else ""
        return self._steady(values[0])

    def _steady(self, value: ast.expr) -> str:
        if not isinstance(value, ast.Call):
            return ""
        full = dotted(value.func, self.imports)
        kind = full.rpartition(".")[2]
        return kind if full.startswith("torch.nn.") and kind in STEADY_MODULES else ""

    def _is_parameter(self, value: ast.expr) -> bool:
        maker = dotted(value.func, self.imports) if isinstance(value, ast.Call) else ""
        return maker in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")

    def _is_buffer(self, value: ast.expr) -> bool:
        maker = dotted(value.func, self.imports) if isinstance(value, ast.Call) else ""
        return maker == "torch.nn.Buffer"


def self_attribute(node: ast.AST) -> str:
    """`x` for `self.x`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else ""
    return ""
