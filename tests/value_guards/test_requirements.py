"""The table of names that value guards need from torch: complete, checked, and up to date."""

from __future__ import annotations

import ast
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import fullgraph.value_guards as package
from fullgraph.value_guards import ValueGuardError, unsupported_reason, value_guards
from fullgraph.value_guards import requirements as table
from fullgraph.value_guards.requirements import Requirement

_FILES = sorted(Path(package.__file__).parent.glob("*.py"))
_REQUIRED = {each.name.replace(":", ".") for each in table.REQUIREMENTS}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


class _TorchNames(ast.NodeVisitor):
    """Collects the full names by which a file uses torch, and attributes of unknown objects."""

    def __init__(self, tree: ast.Module) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self._imported: dict[str, str] = {}
        self.visit(tree)

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            if each.name.partition(".")[0] == "torch":
                self._imported[each.asname or "torch"] = each.name if each.asname else "torch"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and node.module.partition(".")[0] == "torch":
            for each in node.names:
                full = f"{node.module}.{each.name}"
                self._imported[each.asname or each.name] = full
                self.names.add(full)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self._imported:
            self.names.add(self._imported[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            parts.insert(0, base.attr)
            base = base.value
        if isinstance(base, ast.Name) and base.id in self._imported:
            self.names.add(".".join([self._imported[base.id], *parts]))
            return
        is_own = isinstance(base, ast.Name) and base.id in ("self", "cls")
        self.attributes.update(parts[1:] if is_own else parts)
        self.generic_visit(node)


def _used_in(file: Path) -> _TorchNames:
    return _TorchNames(ast.parse(file.read_text()))


def _is_listed(name: str) -> bool:
    """Whether the table has the name, or something inside of it."""
    return any(each == name or each.startswith(f"{name}.") for each in _REQUIRED)


def _unlisted_names(used: _TorchNames) -> Iterator[str]:
    """Private names of torch, and private attributes of any object, that the table lacks."""
    for name in used.names:
        if any(map(_is_private, name.split("."))) and not _is_listed(name):
            yield name
    listed_parts = {part for name in _REQUIRED for part in name.split(".")}
    yield from (each for each in used.attributes if _is_private(each) and each not in listed_parts)


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_every_private_name_of_torch_is_in_the_table(file: Path) -> None:
    assert sorted(_unlisted_names(_used_in(file))) == []


def test_a_forgotten_name_is_found() -> None:
    tree = ast.parse(
        "import torch\n"
        "import torch._dynamo.testing as t\n"
        "from torch._dynamo import utils\n"
        "from torch._dynamo.exc import Unsupported, Other\n"
        "def f(self, op):\n"
        "    t.rand_strided, utils.counters, torch._C._nothing(), Unsupported, torch.sin\n"
        "    op._schema, op._private, self._own, op.name().__class__, self.op._inner\n"
    )
    assert set(_unlisted_names(_TorchNames(tree))) == {
        "torch._dynamo.testing.rand_strided",
        "torch._dynamo.utils.counters",
        "torch._dynamo.exc.Other",
        "torch._C._nothing",
        "_private",
        "_inner",
    }


def test_every_name_in_the_table_is_used() -> None:
    words = {
        part
        for file in _FILES
        if file.name != "requirements.py"
        for node in ast.walk(ast.parse(file.read_text()))
        for part in _words_of(node)
    }
    unused = [each for each in _REQUIRED if each.rpartition(".")[2] not in words]
    assert unused == []


def _words_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=word) | ast.Name(id=word) | ast.alias(name=word):
            yield word
        case ast.Constant(value=str(word)):
            yield word


def test_every_requirement_says_its_use() -> None:
    assert all(each.use for each in table.REQUIREMENTS)


def test_the_installed_release_is_supported() -> None:
    assert unsupported_reason() is None


def test_every_requirement_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = table.REQUIREMENTS
    for requirement in requirements:
        broken = requirement._replace(name=f"{requirement.name}_removed")
        others = tuple(each for each in requirements if each is not requirement)
        monkeypatch.setattr(table, "REQUIREMENTS", (*others, broken))
        reason = unsupported_reason()
        assert reason is not None
        assert broken.name.replace(":", ".") in reason


@pytest.mark.parametrize(
    "requirement",
    [
        Requirement("torch._dynamo.no_such_module:x", ""),
        Requirement("torch._dynamo.utils:_get_fake_value_impl", "", ("node",)),
    ],
)
def test_a_missing_module_or_a_changed_signature_is_refused(
    monkeypatch: pytest.MonkeyPatch, requirement: Requirement
) -> None:
    monkeypatch.setattr(table, "REQUIREMENTS", (requirement,))
    monkeypatch.setattr(package, "_patches", None)
    reason = unsupported_reason()
    assert reason is not None
    assert requirement.name.replace(":", ".") in reason
    assert torch.__version__ in reason
    with pytest.raises(ValueGuardError, match="unmodified build"), value_guards():
        pass


@pytest.mark.parametrize(
    ("version", "is_supported"),
    [
        ("2.13.0", True),
        ("2.14.1+cu130", True),
        ("2.15.0a0+git1234", True),
        ("2.12.1", False),
        ("2.16.0", False),
        ("3.13.0", False),
    ],
)
def test_untested_releases_are_refused(
    monkeypatch: pytest.MonkeyPatch, version: str, is_supported: bool
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    reason = unsupported_reason()
    assert (reason is None) is is_supported
    if reason is not None:
        assert f"tested on torch 2.13, 2.14, 2.15 only, not on {version};" in reason


def test_a_missing_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert unsupported_reason() == "torch is not installed; run pip install torch"
