"""Read the examples of the catalog from their source, without running them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from fullgraph.errors import FullgraphError

ENTRIES = Path(__file__).parent / "entries"
UNREACHABLE = Path(__file__).parent / "unreachable.toml"

# Names that describe an example and are not part of its code.
_FACTS = (
    "INSTEAD", "EAGER_RAISES", "BY_DEFAULT", "STRICT_ONLY", "TITLE", "CONFIG", "COMPILE",
)  # fmt: skip
_WORD = re.compile(r"[^\W\d]\w*")
_NOT_FOR_READERS = re.compile(r"  # (?:noqa|type: ignore|fmt:)[^\n]*")


class Fix(NamedTuple):
    """One fix of an example, with the code to show."""

    name: str
    kind: str
    safety: str
    why: str
    source: str


class Example(NamedTuple):
    """One file of `entries/`."""

    id: str
    # The id, and for a variant also its name: GB0059_open.
    key: str
    file: Path
    # What tells the variants of an entry apart, such as the function; empty without variants.
    title: str
    how: str
    breaks: str
    fixes: tuple[Fix, ...]
    # What to do if there is no fix, and whether the code raises in eager mode too.
    instead: str
    eager_raises: bool

    def as_json(self) -> dict[str, object]:
        """Return the fields for JSON, without the path of the file."""
        facts = self._asdict()
        del facts["file"]
        return {**facts, "fixes": [fix._asdict() for fix in self.fixes]}


class _Part(NamedTuple):
    """A statement outside of the examples, the names it defines, and the words it contains."""

    source: str
    defines: frozenset[str]
    words: frozenset[str]

    @property
    def is_import(self) -> bool:
        """Whether the statement is an import."""
        return self.source.startswith(("import ", "from "))


class CatalogError(FullgraphError):
    """A file of the catalog is incomplete or cannot be imported."""


def example_ids() -> list[str]:
    """Return the ids of all entries that have an example."""
    return [key for key in example_keys() if "_" not in key]


@cache
def example_keys() -> list[str]:
    """Return the keys of all examples: ids, and GB0059_open for a variant of GB0059."""
    return sorted(_key(file) for file in ENTRIES.glob("gb*.py"))


def _key(file: Path) -> str:
    identifier, mark, variant = file.stem.partition("_")
    return identifier.upper() + mark + variant


def read_example(key: str) -> Example | None:
    """Return the example of an entry, or one of its variants; None if there is none."""
    file = ENTRIES / f"{key.lower()}.py"
    return _read(file) if file.exists() else None


def read_variants(identifier: str) -> tuple[Example, ...]:
    """Return the further examples of an entry: the same break with other functions."""
    return tuple(_read(ENTRIES / f"{key.lower()}.py") for key in _variants().get(identifier, ()))


@cache
def _variants() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key in example_keys():
        if "_" in key:
            found.setdefault(key.partition("_")[0], []).append(key)
    return found


@cache
def unreachable() -> dict[str, str]:
    """Return the reasons why entries have no example, by id."""
    import tomllib

    reasons: dict[str, str] = tomllib.loads(UNREACHABLE.read_text(encoding="utf-8"))
    return reasons


@cache
def _read(file: Path) -> Example:
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    facts = _facts(tree)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "breaks" not in functions or "inputs" not in functions:
        raise CatalogError(f"{file.name} needs the functions `breaks` and `inputs`")
    fixes = {name: node for name, node in functions.items() if _mark(node) is not None}
    parts = _parts(text, tree, {"breaks", "inputs", *fixes})
    breaks = _source(text, functions["breaks"])
    # Helpers of `inputs` belong to the example, although `inputs` itself is not shown.
    inputs = _source(text, functions["inputs"])
    key = _key(file)
    return Example(
        id=key.partition("_")[0],
        key=key,
        file=file,
        title=str(facts.get("TITLE", "")),
        how=(ast.get_docstring(tree) or "").strip(),
        breaks=_needed(parts, breaks + inputs) + breaks,
        fixes=tuple(_fix(text, parts, inputs, node) for node in fixes.values()),
        instead=" ".join(str(facts.get("INSTEAD", "")).split()),
        eager_raises=bool(facts.get("EAGER_RAISES", False)),
    )


def _facts(tree: ast.Module) -> dict[str, object]:
    facts: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in _FACTS:
                facts[name] = ast.literal_eval(node.value)
    return facts


def _mark(node: ast.stmt) -> ast.Call | None:
    """Return the decorator `@fix(...)` of a function; None if it has none."""
    for decorator in getattr(node, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "fix":
            return decorator
    return None


def _fix(text: str, parts: list[_Part], inputs: str, node: ast.FunctionDef) -> Fix:
    mark = _mark(node)
    if mark is None or len(mark.args) != 2:
        raise CatalogError(f"{node.name}: fix needs a kind and a safety")
    kind, safety = (ast.literal_eval(argument) for argument in mark.args)
    source = _source(text, node)
    named = {word.arg: word.value for word in mark.keywords if word.arg}
    settings = [
        f"torch._dynamo.config.{name} = {ast.unparse(value)}\n"
        for name, value in named.items()
        if name not in ("before", "after")
    ]
    return Fix(
        name=node.name,
        kind=kind,
        safety=safety,
        why=" ".join((ast.get_docstring(node) or "").split()),
        source=_needed(parts, _text_of(text, mark) + "".join(settings) + source + inputs)
        + "".join(settings)
        + ("\n" if settings else "")
        + source,
    )


def _parts(text: str, tree: ast.Module, examples: set[str]) -> list[_Part]:
    """Return the imports, classes and helpers that the examples share."""
    parts: list[_Part] = []
    for node in tree.body[1:]:
        if isinstance(node, ast.FunctionDef) and node.name in examples:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fullgraph."):
            continue
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in _FACTS:
            continue
        source = _source(text, node)
        parts.append(_Part(source, _defined(node), frozenset(_WORD.findall(source))))
    if all(part.is_import for part in parts):
        return parts
    # A definition that nothing else names has a side effect, such as registering a fake kernel.
    shown = [_text_of(text, node) for node in tree.body[1:]]
    mentions = Counter(word for source in shown for word in set(_WORD.findall(source)))
    telling = {name for name, count in mentions.items() if count > 1 and name != "_"}
    return [part._replace(defines=part.defines & telling) for part in parts]


def _defined(node: ast.stmt) -> frozenset[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return frozenset({node.name})
    if isinstance(node, ast.Import | ast.ImportFrom):
        return frozenset((each.asname or each.name).split(".")[0] for each in node.names)
    names = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
        elif isinstance(each, ast.alias):
            names.add((each.asname or each.name).split(".")[0])
    return frozenset(names)


def _needed(parts: list[_Part], source: str) -> str:
    """Return the shared parts that `source` uses, directly or through other parts."""
    known = frozenset().union(*(part.defines for part in parts if not part.is_import))
    used = set(_WORD.findall(source))
    kept: set[_Part] = set()
    while more := [part for part in parts if part not in kept and _is_needed(part, used, known)]:
        kept.update(more)
        used.update(*(part.words for part in more))
    shown = [part for part in parts if part in kept]
    imports = [part.source for part in shown if part.is_import]
    others = [part.source for part in shown if not part.is_import]
    head = "".join(imports) + ("\n\n" if imports else "")
    return head + "".join(f"{part}\n\n" for part in others)


def _is_needed(part: _Part, used: set[str], known: frozenset[str]) -> bool:
    if part.defines:
        return not part.defines.isdisjoint(used)
    # A statement with only a side effect, on the names that it mentions or in general.
    mentioned = part.words & known
    return not mentioned or not mentioned.isdisjoint(used)


def _source(text: str, node: ast.stmt) -> str:
    """Return the lines of a statement; those of a fix without `@fix` and its docstring."""
    lines = _lines(text)
    first = node.lineno
    decorators = getattr(node, "decorator_list", [])
    mark = _mark(node)
    kept = [decorator for decorator in decorators if decorator is not mark]
    if kept:
        first = min(decorator.lineno for decorator in kept)
    selected = list(range(first, (node.end_lineno or first) + 1))
    if isinstance(node, ast.FunctionDef) and _mark(node) and ast.get_docstring(node) is not None:
        doc = node.body[0]
        selected = [n for n in selected if not doc.lineno <= n <= (doc.end_lineno or doc.lineno)]
    source = "\n".join(lines[number - 1] for number in selected) + "\n"
    return _NOT_FOR_READERS.sub("", source)


def _text_of(text: str, node: ast.stmt | ast.expr) -> str:
    """Return the lines of a node, with its decorators."""
    first = min((each.lineno for each in getattr(node, "decorator_list", ())), default=node.lineno)
    return "\n".join([*_lines(text)[first - 1 : node.end_lineno], ""])


@lru_cache(maxsize=1)
def _lines(text: str) -> list[str]:
    return text.splitlines()
