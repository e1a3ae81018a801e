"""Landlock: which files this process and its children can still open. Linux, without privileges.

A rule allows something for a file, or for a folder and all that is below it. What no rule allows is
an error of the operating system. A process in such a domain can neither look into processes
outside of it, also not through `/proc`, nor (from ABI 6 on) send signals to them.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from fullgraph.fix.confinement.system_calls import system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
# Everything up to ABI 3: also removing, making and moving files and folders.
_ALL_OF_ABI_3 = (1 << 15) - 1
# Of these rights, a rule for a file that is no folder may have only some.
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_TCP = 0b11
_SOCKETS_AND_SIGNALS = 0b11

READ = EXECUTE | READ_FILE | READ_DIR
# Before ABI 3, a file could still be emptied.
LEAST_ABI = 3
SIGNALS_ABI = 6


@cache
def abi() -> int:
    """Return the version of Landlock in the running kernel; 0 without it."""
    if sys.platform != "linux":
        return 0
    return max(system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION), 0)


def restrict(
    rules: Iterable[tuple[str, int]], writable: Iterable[str], devices: Iterable[str] = ()
) -> None:
    """Restrict this thread and what it starts to some files; OSError if that fails.

    `rules` are paths with rights; in `writable` folders everything is allowed. `devices` can be
    read and written. Paths that do not exist are left out.
    """
    version = abi()
    handled = _ALL_OF_ABI_3 | (_IOCTL_DEVICE if version >= 5 else 0)
    attributes = struct.pack(
        "=QQQ", handled, _TCP if version >= 4 else 0, _SOCKETS_AND_SIGNALS if version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = system_call(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        raise OSError("the kernel makes no Landlock ruleset")
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights & handled)
        for path in writable:
            _allow(ruleset, path, handled & ~_IOCTL_DEVICE)
        for path in devices:
            _allow(ruleset, path, (READ_FILE | WRITE_FILE | _IOCTL_DEVICE) & handled)
        if system_call(_RESTRICT_SELF, ruleset, 0) != 0:
            raise OSError("the kernel does not restrict this process with Landlock")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(path):
                rights &= _OF_FILES
            rule = struct.pack("=Qi", rights, descriptor)
            if system_call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0) != 0:
                raise OSError(f"the kernel makes no Landlock rule for {path}")
        finally:
            os.close(descriptor)
