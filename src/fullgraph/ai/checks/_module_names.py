"""Which names a module binds, read from its source or stub without importing it.

The answer is a lower bound: a module may make further names at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# A stub of this size takes longer to parse than all the rest.
_LARGE = 300_000
_DEEPEST = 4
_IN_STUB = re.compile(r"^(?:async def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*[:=]", re.MULTILINE)

_MEMBER = re.compile(r"^    (?:async def|def|class)[ \t]+(\w+)|^    (\w+)[ \t]*[:=]", re.MULTILINE)


def has_name(root: Path, pieces: tuple[str, ...]) -> bool:
    """Return whether `a.b.c` is certainly there: a module below `root`, or a name in one."""
    for size in range(len(pieces), 0, -1):
        module = root.joinpath(*pieces[:size])
        if files := module_files(module):
            rest = pieces[size:]
            return not rest or _has_in_module(files, module, rest)
    return False


def module_files(module: Path) -> tuple[Path, ...]:
    """Return the source and the stubs of a module; nothing if there is no such module."""
    in_folder = (module / "__init__.py", module / "__init__.pyi")
    beside = (module.parent / f"{module.name}.py", module.parent / f"{module.name}.pyi")
    found = [each for each in (*in_folder, *beside) if each.is_file()]
    if module.name == "torch" and found:
        # torch's own functions and types are those of its compiled module.
        found += [module / "_C" / "_VariableFunctions.pyi", module / "_C" / "__init__.pyi"]
    return tuple(each for each in found if each.is_file())


def _has_in_module(files: tuple[Path, ...], module: Path, rest: tuple[str, ...]) -> bool:
    if len(rest) > 2:
        return False
    if len(rest) == 1:
        return any(rest[0] in names_of(file, module) for file in files)
    return any(rest[1] in members_of(file, rest[0]) for file in files)


def members_of(file: Path, class_: str) -> frozenset[str]:
    """Return the names that the body of a class binds; without those that it inherits."""
    text = read(file)
    found = re.search(rf"^class {re.escape(class_)}\b.*?(?=^[^\s#)]|\Z)", text, re.M | re.S)
    if found is None:
        return frozenset()
    return frozenset(one or other for one, other in _MEMBER.findall(found[0]))


@cache
def names_of(file: Path, module: Path, depth: int = 0) -> frozenset[str]:
    """Return the names at the top level of a file, also those of `from … import *`."""
    text = read(file)
    if file.suffix == ".pyi" and len(text) > _LARGE:
        return frozenset(one or other for one, other in _IN_STUB.findall(text))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(_bound(tree.body, file, module, depth))


def _bound(body: list[ast.stmt], file: Path, module: Path, depth: int) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Assign(targets=targets):
                yield from (each.id for target in targets for each in ast.walk(target)
                            if isinstance(each, ast.Name))  # fmt: skip
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Import(names=names):
                yield from ((each.asname or each.name.partition(".")[0]) for each in names)
            case ast.ImportFrom(names=names):
                for each in names:
                    if each.name != "*":
                        yield each.asname or each.name
                    elif depth < _DEEPEST:
                        yield from _starred(node, file, module, depth)
            case ast.If() | ast.Try() | ast.With():
                for inner in ("body", "orelse", "finalbody"):
                    yield from _bound(getattr(node, inner, []), file, module, depth)
                for handler in getattr(node, "handlers", []):
                    yield from _bound(handler.body, file, module, depth)


def _starred(node: ast.ImportFrom, file: Path, module: Path, depth: int) -> Iterator[str]:
    source = _imported_module(node, file, module)
    for each in module_files(source) if source else ():
        yield from (name for name in names_of(each, source, depth + 1) if not name.startswith("_"))


def _imported_module(node: ast.ImportFrom, file: Path, module: Path) -> Path | None:
    pieces = (node.module or "").split(".") if node.module else []
    if node.level:
        package = module if file.name.startswith("__init__.") else module.parent
        for _ in range(node.level - 1):
            package = package.parent
        return package.joinpath(*pieces)
    # The folder in which the outermost package of `module` is.
    for folder in module.parents:
        if (folder / pieces[0]).is_dir():
            return folder.joinpath(*pieces)
    return None


@cache
def read(file: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:
        return ""
