"""Read the comment behind a guard, in which torch names the user's line.

torch writes `L['n'] == 1  # return x * n  # prog.py:12 in forward (HINT: …)`, and leaves out the
start of the path.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
from functools import lru_cache

from fullgraph.capture.stacks import plain_name
from fullgraph.model.events import Frame

_COMMENT = re.compile(r"\s+# ")
_MOST_HASHES = 5
_LINE = re.compile(r"  # (?:(?P<code>.*?)  # )?(?P<file>\S[^#\n]*?):(?P<line>\d+) in (?P<name>\S+)")


# The same guards fail again with each recompile.
@lru_cache(maxsize=4096)
def without_comment(part: str) -> str:
    """Return the condition of a guard, without the comment behind it."""
    ends = [match.start() for match in _COMMENT.finditer(part)]
    # A string in the condition may look like a comment.
    whole = next((end for end in ends[:_MOST_HASHES] if _is_expression(part[:end])), None)
    end = whole if whole is not None else ends[0] if ends else len(part)
    return part[:end].strip()


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


@lru_cache(maxsize=4096)
def line_of_guard(part: str, own_file: str) -> Frame | None:
    """Return the line that torch names as the reason for a guard; None if it names none.

    `own_file` is the file of the guarded function, where the line most likely is.
    """
    match = _LINE.search(part)
    if match is None:
        return None
    line, code = int(match["line"]), (match["code"] or "").strip()
    file = _full_path(match["file"], line, code, own_file)
    if file is None:
        return None
    text = linecache.getline(file, line).strip() or code
    return Frame(file, line, plain_name(match["name"])[0], code=text)


@lru_cache(maxsize=1024)
def _full_path(shortened: str, line: int, code: str, own_file: str) -> str | None:
    """Return the loaded file whose path ends as torch's does; None if there is not one."""
    if own_file.endswith(shortened):
        return own_file
    files = {str(getattr(module, "__file__", None) or "") for module in _modules()}
    found = [file for file in files if file.endswith(shortened)]
    if len(found) > 1:
        found = [file for file in found if linecache.getline(file, line).strip() == code] or found
    # A file of torch has no more than its folder removed, and is the one with the shortest path.
    return min(found, key=lambda file: (len(file), file)) if found else _existing(shortened)


def _existing(path: str) -> str | None:
    return path if os.path.isabs(path) and os.path.exists(path) else None


def _modules() -> list[object]:
    return list(sys.modules.values())
