"""Reports the access of a block of code to files, processes and the network."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The start of the names of Python's audit events for such access.
_EVENTS = ("open", "socket.", "subprocess.", "os.", "shutil.", "urllib.", "ctypes.dlopen")
# Imports read these files, and torch reads its own.
_CODE_FILES = (".py", ".pyc", ".so", ".pyd", ".json")

# Python cannot remove an audit hook, so there is one, which does nothing without a listener.
_listeners: list[list[str]] = []
_has_audit_hook = False


@contextmanager
def external_accesses() -> Iterator[list[str]]:
    """Yield a list that receives a description of each access in the block."""
    global _has_audit_hook
    if not _has_audit_hook:
        sys.addaudithook(_audit_hook)
        _has_audit_hook = True
    accesses: list[str] = []
    _listeners.append(accesses)
    try:
        yield accesses
    finally:
        # By identity: another list may be equal.
        _listeners[:] = [each for each in _listeners if each is not accesses]


def _audit_hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listeners or not event.startswith(_EVENTS):
        return
    target = str(arguments[0]) if arguments else ""
    if event == "open" and target.endswith(_CODE_FILES) and arguments[1:2] in (("r",), ("rb",)):
        return
    access = f"opens {target}" if event == "open" else f"calls {event} {target}".rstrip()
    _listeners[-1].append(access)
