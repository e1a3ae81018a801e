"""Runs edited text in place of files that the program imports; the files stay as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from fullgraph.fix.runtime.hot_patch import show_lines


def import_edited(texts: Mapping[str, str]) -> None:
    """Make imports of some files, given by their real paths, run other text."""
    original = SourceFileLoader.get_code

    def get_code(loader: Any, name: str) -> CodeType | None:
        path: str = loader.get_filename(name)
        text = texts.get(os.path.realpath(path))
        if text is None:
            return original(loader, name)
        show_lines(path, text)
        code: CodeType = loader.source_to_code(text.encode(), path)
        return code

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def script_text(texts: Mapping[str, str], script: str) -> str | None:
    """Return the edited text of the script; None if it is not edited."""
    text = texts.get(os.path.realpath(script))
    if text is not None:
        show_lines(script, text)
    return text
