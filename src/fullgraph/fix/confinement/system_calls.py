"""Calls of the Linux kernel that Python has no functions for."""

from __future__ import annotations

import ctypes
from functools import cache

_NO_NEW_PRIVILEGES = 38


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: object) -> int:
    """Make a system call; the result is negative if it fails."""
    result: int = _libc().syscall(ctypes.c_long(number), *arguments)
    return result


def process_control(option: int, argument: int = 0, second: int = 0) -> int:
    """Call `prctl`; the result is negative if it fails."""
    zero = ctypes.c_ulong(0)
    result: int = _libc().prctl(
        option, ctypes.c_ulong(argument), ctypes.c_ulong(second), zero, zero
    )
    return result


def drop_privileges_of_programs() -> None:
    """Let no program that this process starts have more privileges; OSError if that fails."""
    if process_control(_NO_NEW_PRIVILEGES, 1) != 0:
        raise OSError("the kernel does not set no_new_privs")
