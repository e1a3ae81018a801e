"""Runs edited text in place of files that a program imports; the files stay as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from fullgraph.fix.runtime.hot_patch import show_lines


def import_edited(texts: Mapping[str, str]) -> set[str]:
    """Make imports of some files, given by their real paths, run other text.

    Returns the set of the files that have been imported; it grows with each import.
    """
    imported: set[str] = set()
    original = SourceFileLoader.get_code

    def get_code(loader: Any, name: str) -> CodeType | None:
        path: str = loader.get_filename(name)
        text = texts.get(os.path.realpath(path))
        if text is None:
            return original(loader, name)
        imported.add(os.path.realpath(path))
        show_lines(path, text)
        # As text: the encoding that the file declares is that of its bytes.
        code: CodeType = loader.source_to_code(text, path)
        return code

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    return imported


def script_text(texts: Mapping[str, str], script: str) -> str | None:
    """Return the edited text of the script; None if it is not edited."""
    text = texts.get(os.path.realpath(script))
    if text is not None:
        show_lines(script, text)
    return text
