"""Turn a result into text: one folder per kind of result, one file per format.

`render/report/` renders a `Report`, `render/entry/` an entry of the registry, `render/fixer/` the
page of a fixer. The docstring of a folder says what it renders. A file such as
`render/report/json.py` has one function:

    def render(value: Report, **options: object) -> str

It returns the text, which ends in a newline, and ignores the options that it does not know. Options
in use are `width` and `color` for a terminal, `is_terminal` if the text goes to one, so that long
lines may be cut, and `top` and `rest` for parts of a long result.

A renderer never fails on a result, whatever its strings and numbers are. Its text can be encoded,
and a text format has no control characters of the result. `tests/render/test_generated.py` checks
that for `report/` and `fix/`.

To add a format to a kind, add a file to its folder. To add a kind, add a folder with `__init__.py`,
`text.py` and `json.py`; `fix/` for a `FixReport` also has `diff.py`. Both are found by listing the
folders. `commands/_output.py` has the option `--format` for a kind and writes the text.
Names that start with an underscore are helpers; `_json.py` is the JSON of every kind.

Nothing here imports torch, and a renderer is imported only when it is used.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def kinds() -> list[str]:
    """Return the kinds of results that can be rendered."""
    return sorted(folder.parent.name for folder in _FOLDER.glob("*/__init__.py"))


def formats(kind: str) -> list[str]:
    """Return the formats of a kind, without importing them."""
    files = (_FOLDER / kind).glob("*.py")
    return sorted(file.stem for file in files if not file.stem.startswith("_"))


def render(kind: str, value: Any, format_: str, **options: object) -> str:
    """Return `value` in a format of its kind, ending in a newline."""
    renderer = import_module(f"fullgraph.render.{kind}.{format_}")
    text: str = renderer.render(value, **options)
    return text
