"""Generate results for renderers from the types of their structs, so that new fields are covered.

`python -m bench renderers` uses the same strategies for many more results.
"""

from __future__ import annotations

import json
import re
import types
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from fullgraph.fix.report.model import FixReport
from fullgraph.model.guard_report import GuardsReport
from fullgraph.model.report import Report
from fullgraph.recompiles.report import RecompilesReport
from fullgraph.render import formats, render
from fullgraph.where.report import WhereReport

# The results that renderers are given, by the folder of their renderers.
KINDS: dict[str, type[Struct]] = {
    "report": Report,
    "fix": FixReport,
    "recompiles": RecompilesReport,
    "guards": GuardsReport,
    "where": WhereReport,
}
# Formats for programs: they keep control characters, escaped or exactly as they are.
_DATA_FORMATS = {"json", "diff"}
_STYLE = re.compile(r"\x1b\[\d+m")

_STRINGS = (
    "", " ", "\n", "\t", "x", "GB0007", "GB0219", "side-effects", "yours", "torch",
    "/home/model.py", "C:\\model.py", "<frozen genericpath>", "<string>", "outer.<locals>.inner",
    "value = f(x)", "\t    value = f(x)\n", "if x:\r\n    y\x0cz", "名前 = f(x)", "e\u0301",
    "a" * 300, "word " * 100, "{0} %s {x!r}", "TorchRuntimeError: no", "\U0001f600", "\ufeff",
    "\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\x00", "\x7f", "\r", "\x08\x08", "\x85",
    "\ud800", "a\udcffb", "\ud83d", "\u202edesrever", "\u2028",
    "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-\x1b[2J\n+\x0c\n",
)  # fmt: skip
_INTEGERS = (0, 1, 1, 2, 2, 3, 7, 10, -1, 99_999, 2**31, 2**63, -(2**63), 10**30)
_FLOATS = (0.0, -0.0, 0.001, 1.0, 1.5, -1.0, 5e-324, 1e308)
_WIDTHS = (0, 20, 60, 80, 140, 10_000)


class Options(NamedTuple):
    """The options of one rendering."""

    width: int
    color: bool
    is_terminal: bool
    all: bool

    def keywords(self) -> dict[str, object]:
        """Return the options as `deliver` gives them to a renderer."""
        facts: dict[str, object] = self._asdict()
        return {**facts, "top": None, "show_all": True} if facts.pop("all") else facts


ALL_OPTIONS = [Options(*values) for values in product(_WIDTHS, *[(False, True)] * 3)]


def results(kind: str) -> st.SearchStrategy[Any]:
    """Return a strategy for the results of a kind.

    Hypothesis draws only a seed: to draw each field of a report takes a hundred times as long.
    """
    return st.integers(0, 2**32 - 1).map(lambda seed: generate(KINDS[kind], Random(seed)))


def generate(hint: Any, random: Random) -> Any:
    """Return a random value of a type."""
    origin, arguments = _parts(hint)
    if origin is Literal:
        return random.choice(arguments)
    if origin in (Union, types.UnionType):
        return generate(random.choice(arguments), random)
    if origin in (tuple, list):
        return origin(_several(arguments[0], random))
    if origin is dict:
        names = _several(arguments[0], random)
        return {name: generate(arguments[1], random) for name in names}
    if hint in _SIMPLE:
        return random.choice(_SIMPLE[hint])
    fields = _fields(hint)
    return hint(**{name: generate(field, random) for name, field in fields.items()})


def _several(hint: Any, random: Random) -> list[Any]:
    """Return a few values, or one value more often than a report shows."""
    if random.random() < 0.05:
        return [generate(hint, random)] * random.choice((11, 30))
    return [generate(hint, random) for _ in range(random.choice((0, 0, 1, 1, 2)))]


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


@cache
def _fields(struct: type[Struct]) -> dict[str, Any]:
    hints = get_type_hints(struct)
    return {name: hints[name] for name in struct.__struct_fields__}


_SIMPLE: dict[Any, Sequence[Any]] = {
    str: _STRINGS,
    int: _INTEGERS,
    float: _FLOATS,
    bool: (False, True),
    type(None): (None,),
}


def complaints(kind: str, result: Any, options: Options) -> Iterator[str]:
    """Yield what is wrong with a result in each of the formats that the folder of its kind has."""
    for format_ in formats(kind):
        try:
            text = render(kind, result, format_, **options.keywords())
            text.encode()
            if format_ == "json":
                json.loads(text)
        except Exception as error:
            yield f"{kind} as {format_}: {type(error).__name__}: {error!a}"
            continue
        if format_ not in _DATA_FORMATS or (options.is_terminal and format_ != "json"):
            yield from _controls(kind, format_, text)


def _controls(kind: str, format_: str, text: str) -> Iterator[str]:
    allowed = "\n\t" if format_ in _DATA_FORMATS else "\n"
    plain = _STYLE.sub("", text)
    found = {c for c in plain if unicodedata.category(c) in ("Cc", "Cs") and c not in allowed}
    if found:
        yield f"{kind} as {format_}: control characters {sorted(map(ascii, found))}"
