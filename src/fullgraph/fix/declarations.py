"""What each fixer declares about itself, read from its source without importing it.

`fullgraph explain`, the terminal report and the site name the fixers that serve a break. They must
start fast and work without torch, so they read the constants that `fixers/__init__.py` describes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

from msgspec import Struct

from fullgraph.model.fix_kinds import Kind, Safety

_PACKAGE = Path(__file__).parents[1]
_FIXERS = Path(__file__).parent / "fixers"
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
# The value of a constant at module level: its first line, then indented lines and closing brackets.
_VALUE = re.compile(r"[^=\n]* = (.+(?:\n(?:[ \t]+\S.*|[)\]}].*))*)")
_IMPORT = re.compile(r"^from fullgraph\.([\w.]+) import (\([^)]*\)|.+)$", re.MULTILINE)


class Declaration(Struct, frozen=True):
    """What one fixer declares: its constants and its docstring."""

    name: str
    title: str
    kind: Kind
    safety: Safety
    ids: tuple[str, ...]
    categories: tuple[str, ...]
    order: int
    about: str
    # What the text of a break must contain for the fixer to be offered; empty for any text.
    offered_for: str = ""
    # What must hold for its fixes to be right, in sentences.
    assumes: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, int, str]:
        """The position among the fixers: in the order of their kinds, then of `ORDER`."""
        return get_args(Kind).index(self.kind), self.order, self.name


class ServingFixers(NamedTuple):
    """The fixers that serve a break, in the order in which they are tried."""

    fixers: tuple[Declaration, ...]
    # True if the fixers list the id of the break; False if they only list its category.
    by_id: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fixers."""
        return tuple(each.name for each in self.fixers)

    def with_first(self, text: str) -> ServingFixers:
        """Return the fixers with those first that can fit a text, which is a type and its code."""
        ordered = sorted(self.fixers, key=lambda each: not _fits(each, text))
        return ServingFixers(tuple(ordered), self.by_id)

    @property
    def claim(self) -> str:
        """The words before the names of the fixers."""
        return "fullgraph fix can do this" + ("" if self.by_id else " in some cases")


def serving_fixers(
    id_: str | None, category: str, text: str | None = None, *, fixable: bool = True
) -> ServingFixers:
    """Return the fixers that list an id; if there are none, those that list the category.

    `text` is what is known about a break: its type, its explanation and its code. Fixers that
    cannot fit are left out. None stands for all breaks of the id. Fixers that list only the
    category are left out, too, if users cannot fix the breaks of this id.
    """
    fitting = [each for each in declarations() if text is None or _fits(each, text)]
    listing = tuple(each for each in fitting if (id_ or "") in each.ids)
    if listing:
        return ServingFixers(listing, by_id=True)
    by_category = (each for each in fitting if fixable and category in each.categories)
    return ServingFixers(tuple(by_category), by_id=False)


def _fits(declaration: Declaration, text: str) -> bool:
    # Torch explains every untraced function with this example.
    without_example = text.replace("(e.g. _warnings.warn)", "")
    return re.search(declaration.offered_for, without_example) is not None


@cache
def declarations() -> tuple[Declaration, ...]:
    """Return the declarations of all fixers, in the order in which fixers are tried."""
    found = [_read(name, file) for name, file in _modules()]
    return tuple(sorted(found, key=lambda each: each.rank))


def _modules() -> Iterator[tuple[str, Path]]:
    for path in _FIXERS.iterdir():
        file = path / "__init__.py" if path.suffix == "" else path
        if path.name[0] not in "_." and file.suffix == ".py" and file.is_file():
            yield path.stem, file


def _read(name: str, file: Path) -> Declaration:
    source = _source(file)
    about = _DOCSTRING.match(source)
    return Declaration(
        name=name,
        title=_constant(source, "TITLE", ""),
        kind=_constant(source, "KIND", ""),
        safety=_constant(source, "SAFETY", ""),
        ids=_constant(source, "IDS", ()),
        categories=_constant(source, "CATEGORIES", ()),
        order=_constant(source, "ORDER", 0),
        about=about[1] if about else "",
        offered_for=_constant(source, "OFFERED_FOR", ""),
        assumes=_constant(source, "ASSUMES", ()),
    )


@cache
def _source(file: Path) -> str:
    return file.read_text("utf-8")


def _constant(source: str, name: str, default: Any) -> Any:
    """Return the value of a constant of a module; `default` if the module does not define it."""
    # Finding a string is much faster than searching for a regular expression.
    starts = (source.find(f"\n{name}{after}") for after in (" = ", ": "))
    start = next((each for each in starts if each >= 0), -1)
    found = _VALUE.match(source, start + 1) if start >= 0 else None
    return _value(_expression(found[1]), source) if found else default


@cache
def _expression(text: str) -> ast.expr:
    # Fixers share kinds and safety levels, so most texts are parsed once.
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, source: str) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Tuple():
            return tuple(_value(each, source) for each in node.elts)
        case ast.Call(func=ast.Name("tuple"), args=[ast.Name() as table]):
            return _value(table, source)
        case ast.Dict():
            return tuple(_value(each, source) for each in node.keys if each)
        case ast.Name():
            return _constant(_definer(source, node.id), node.id, None)
        case _:
            raise ValueError(f"a fixer declares {ast.unparse(node)}; use strings and tuples")


def _definer(source: str, name: str) -> str:
    """Return the source of the module that `source` imports a name from, or `source` itself."""
    module = _imports(source).get(name)
    if module is None:
        return source
    path = _PACKAGE.joinpath(*module.split("."))
    return _source(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))


@cache
def _imports(source: str) -> dict[str, str]:
    """Return the modules of this package that names are imported from, by name."""
    # The docstring and the imports come before the first constant.
    head, _, _ = source.partition("\nTITLE = ")
    return {
        name: module
        for module, names in _IMPORT.findall(head)
        for name in re.findall(r"\w+", names)
    }
