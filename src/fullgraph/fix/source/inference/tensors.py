"""Which expressions of a function are seen to be tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.names import dotted, imports_of
from fullgraph.fix.source.trees import arguments_of, root_of

# Without arguments each gives a new tensor of no dimensions.
REDUCTIONS = frozenset((
    "sum", "mean", "max", "min", "amax", "amin", "norm", "std", "var", "prod", "argmax", "argmin",
    "median", "count_nonzero", "any", "all", "logsumexp", "nansum", "nanmean",
))  # fmt: skip
_NOT_TENSORS = frozenset((
    "item", "tolist", "numpy", "size", "numel", "dim", "stride", "element_size", "data_ptr",
    "is_floating_point", "is_complex", "is_contiguous", "get_default_dtype", "is_grad_enabled",
    "finfo", "iinfo", "device", "dtype", "split", "chunk", "unbind", "Size", "is_tensor", "shape",
    "index", "count", "get", "pop", "keys", "values", "items", "append", "format",
))  # fmt: skip
_TELLING = frozenset((
    "shape", "dtype", "device", "abs", "detach", "view", "reshape", "permute", "transpose",
    "unsqueeze", "squeeze", "mean", "sum", "std", "var", "norm", "softmax", "sigmoid", "exp",
    "clone", "contiguous", "amax", "amin", "numel", "flatten", "expand", "float", "to", "clamp",
    "max", "min", "masked_fill", "half", "long", "square", "sqrt", "log", "argmax", "argmin",
    "argsort", "cumsum", "item", "tolist", "bool", "nonzero", "eq", "ne", "any", "all", "prod",
))  # fmt: skip


class Tensors:
    def __init__(self, tree: ast.Module, function: ast.FunctionDef) -> None:
        self._imports = imports_of(tree)
        self._modules, self._attributes = _members(tree, self._imports)
        self._bound: dict[str, list[ast.expr]] = {}
        # Names that are to count as numbers.
        self.numbers: set[str] = set()
        self._told = {each.arg for each in arguments_of(function) if _is_annotated(each)}
        for node in ast.walk(function):
            self._read(node)

    def _read(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _TELLING:
                if name != "self" and name not in self._imports:
                    self._told.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._bound.setdefault(name, []).append(value)
            case (
                ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source)
            ):
                self._walk_through(target, source)

    def _walk_through(self, target: ast.expr, source: ast.expr) -> None:
        """The parts of a tensor are tensors."""
        match target, source:
            case ast.Tuple(elts=[_, each]), ast.Call(func=ast.Name(id="enumerate"), args=[inner]):
                self._walk_through(each, inner)
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources):
                for each, inner in zip(targets, sources, strict=False):
                    self._walk_through(each, inner)
            case ast.Name(id=name), ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
                self._bound.setdefault(name, []).append(source)

    def is_tensor(self, node: ast.expr, depth: int = 8) -> bool:
        match node:
            case _ if depth == 0:
                return False
            case ast.Name(id=name):
                values = self._bound.get(name, [])
                known = bool(values) and all(self.is_tensor(each, depth - 1) for each in values)
                told = name in self._told and not any(isinstance(v, ast.Constant) for v in values)
                return name not in self.numbers and (known or told)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name in self._attributes
            case ast.Attribute(value=owner, attr="T" | "mT" | "data"):
                return self.is_tensor(owner, depth - 1)
            case ast.Subscript(value=owner):
                return self.is_tensor(owner, depth - 1)
            case ast.UnaryOp(operand=operand):
                return self.is_tensor(operand, depth - 1)
            case ast.BinOp(left=left, right=right):
                return self.is_tensor(left, depth - 1) or self.is_tensor(right, depth - 1)
            case ast.Compare(left=left, comparators=[right]):
                return self.is_tensor(left, depth - 1) or self.is_tensor(right, depth - 1)
            case ast.Call(func=ast.Attribute(value=owner, attr=name) as function):
                return self._gives_tensor(function, owner, name, depth)
        return False

    def _gives_tensor(
        self, function: ast.Attribute, owner: ast.expr, name: str, depth: int
    ) -> bool:
        if dotted(function, self._imports).startswith("torch."):
            return name not in _NOT_TENSORS
        if isinstance(owner, ast.Name) and owner.id == "self":
            return name in self._modules
        return name not in _NOT_TENSORS and self.is_tensor(owner, depth - 1)

    def is_single(self, node: ast.expr) -> bool:
        """Whether it is seen to be a new tensor of no dimensions."""
        match node:
            case ast.Call(func=ast.Attribute(attr=name) as function, args=args, keywords=[]):
                of_torch = dotted(function, self._imports).startswith("torch.")
                return name in REDUCTIONS and len(args) == int(of_torch)
        return False

    def is_index(self, node: ast.expr, depth: int = 4) -> bool:
        """Whether it is seen to be a tensor of no dimensions, and no truth."""
        match node:
            case _ if depth == 0:
                return False
            case ast.Name(id=name):
                values = self._bound.get(name, [])
                known = bool(values) and all(self.is_index(each, depth - 1) for each in values)
                return known and name not in self.numbers
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
                return self.is_index(left, depth - 1)
            case ast.Call(func=ast.Attribute(attr="any" | "all")):
                return False
        return self.is_single(node)


def is_whole(node: ast.expr) -> bool:
    """Whether it is seen to be a tensor of integers."""
    match node:
        case ast.Call(func=ast.Attribute(attr="argmax" | "argmin" | "count_nonzero" | "long")):
            return True
        case ast.Call(func=ast.Attribute(value=owner, attr="sum"), args=[], keywords=[]):
            return isinstance(owner, ast.Compare) or is_whole(owner)
    return False


def _is_annotated(argument: ast.arg) -> bool:
    if argument.annotation is None:
        return False
    return ast.unparse(argument.annotation) in ("torch.Tensor", "Tensor", "torch.FloatTensor")


def _members(tree: ast.Module, imports: dict[str, str]) -> tuple[set[str], set[str]]:
    """Attributes of `self` that are modules, and those that are tensors."""
    modules: set[str] = set()
    tensors: set[str] = set()
    for name, value in _assigned(tree):
        made_by = dotted(value.func, imports)
        if made_by == "torch.nn.Parameter" or made_by == "torch.nn.Buffer":
            tensors.add(name)
        elif made_by.startswith("torch.nn.") and made_by not in _CONTAINERS:
            modules.add(name)
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str(name)), *_]
            ) if root_of(node) == "self":
                tensors.add(name)
    return modules, tensors


_CONTAINERS = ("torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList")


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call() as value,
            ):
                yield name, value
