"""Find out whether compiled code compares sizes, so that it may specialize other sizes."""

from __future__ import annotations

import functools
import re
from typing import Any

import torch

from fullgraph.capture.compiled_calls import in_the_file_of
from fullgraph.capture.dynamo_hooks import GUARDS_BUILT, look_up

_SIZE = r"[^\s<>=!%/]+"
# Sizes that are at least 2, and sizes and strides that are tied to each other.
_HARMLESS = re.compile(rf"[012] <= {_SIZE}|{_SIZE} == (?:\d+\*)?{_SIZE}")
_NUMBER = re.compile(r"== -?\d+$|^-?\d+ ==")
_COMMENT = re.compile(r"\s+# .*$", re.DOTALL)


class SizeGuards:
    """Watches the guards that are built in this process."""

    def __init__(self) -> None:
        self.compare_sizes = False

    def watch(self) -> None:
        """Look at all guards from now on."""
        owner, name, original = look_up(torch.__version__, GUARDS_BUILT)

        @functools.wraps(original)
        def build(manager: Any, *args: Any, **kwargs: Any) -> None:
            original(manager, *args, **kwargs)
            self._look_at(manager)

        setattr(owner, name, in_the_file_of(original, build))

    def _look_at(self, manager: Any) -> None:
        root: Any = getattr(getattr(manager, "guard_manager", None), "root", None)
        if not hasattr(root, "get_epilogue_lambda_guards"):
            return
        for guard in root.get_epilogue_lambda_guards():
            parts = [_COMMENT.sub("", part) for part in guard.verbose_code_parts()]
            self.compare_sizes |= any(compares_size(part) for part in parts)


def compares_size(guard: str) -> bool:
    """Return whether a guard on sizes is more than a tie between them."""
    return _HARMLESS.fullmatch(guard) is None or _NUMBER.search(guard) is not None
