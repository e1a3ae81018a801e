"""A seccomp filter: the system calls that this process and its children can no longer make.

Landlock decides about files. The filter closes what Landlock leaves open: the network and other
sockets, new processes, groups and sessions of processes, permissions and times of files, limits,
keys of the kernel, and what looks into other processes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from fullgraph.fix.confinement.system_calls import process_control, system_call

_GET_SECCOMP = 21
_SET_FILTER, _ALL_THREADS = 1, 1
_NOT_PERMITTED, _NO_SUCH_CALL = 1, 38
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _JUMP_IF_GREATER, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
# Offsets in `struct seccomp_data`.
_NUMBER, _ARCHITECTURE, _FIRST, _THIRD = 0, 4, 16, 32
_NEW_THREAD = 0x00010000
# On x86_64, numbers from here on are those of another ABI.
_OTHER_ABI = 0x40000000


# By the name of the machine: how the kernel names it, the number of `seccomp`, and its column.
_MACHINES = {"x86_64": (0xC000003E, 317, 0), "aarch64": (0xC00000B7, 277, 1)}

# The numbers on x86_64 and aarch64; None where there is no such call.
_Numbers = tuple[int | None, int | None]
_REFUSED: dict[str, _Numbers] = {
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    # What leaves its group could not be ended together with it.
    "setpgid": (109, 154), "setsid": (112, 157),
    "setuid": (105, 146), "setreuid": (113, 145), "setresuid": (117, 147), "capset": (126, 91),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "open_by_handle_at": (304, 265),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "setrlimit": (160, 164), "setpriority": (141, 140), "acct": (163, 89), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "sethostname": (170, 161),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    # Memory that no limit counts.
    "memfd_create": (319, 279), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "mq_open": (240, 180),
}  # fmt: skip
# They say that they have worked, but do nothing: compilers call them for their own files.
_PRETENDED: dict[str, _Numbers] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}  # fmt: skip
_PROCESSES: dict[str, _Numbers] = {
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
}  # fmt: skip
# The first argument is the process, and may only be this one.
_SIGNALS: dict[str, _Numbers] = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
_CLONE: _Numbers = (56, 220)
# Its arguments are in memory, where a filter cannot read them; libc then calls `clone`.
_CLONE3: _Numbers = (435, 435)
_LIMITS: _Numbers = (302, 261)


@cache
def is_available() -> bool:
    """Return whether this machine and its kernel have seccomp filters."""
    return (
        sys.platform == "linux"
        and platform.machine() in _MACHINES
        and process_control(_GET_SECCOMP) >= 0
    )


def restrict(*, processes: bool, signals: bool) -> None:
    """Install the filter for this process; OSError if that fails.

    `processes` are allowed for compilers that start others. `signals` to other processes are
    allowed where Landlock keeps them within the domain.
    """
    architecture, seccomp, column = _MACHINES[platform.machine()]
    program = b"".join(_program(architecture, column, processes=processes, signals=signals))
    buffer = ctypes.create_string_buffer(program)
    # `struct sock_fprog`: the number of instructions, and their address.
    described = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    if system_call(seccomp, _SET_FILTER, _ALL_THREADS, described) != 0:
        raise OSError("the kernel installs no seccomp filter")


def _program(architecture: int, column: int, *, processes: bool, signals: bool) -> Iterator[bytes]:
    yield _instruction(_LOAD, value=_ARCHITECTURE)
    yield _instruction(_JUMP_IF_EQUAL, 1, 0, architecture)
    yield _instruction(_RETURN, value=_KILL)
    yield _instruction(_LOAD, value=_NUMBER)
    yield _instruction(_JUMP_IF_GREATER, 0, 1, _OTHER_ABI)
    yield _instruction(_RETURN, value=_ERROR | _NOT_PERMITTED)
    yield from _returning(_REFUSED.values(), column, _NOT_PERMITTED)
    yield from _returning(_PRETENDED.values(), column, 0)
    yield from _returning([_CLONE3], column, _NO_SUCH_CALL)
    # A new limit; asking for the limits is allowed.
    yield from _unless_zero(_LIMITS[column], _THIRD)
    if not processes:
        yield from _returning(_PROCESSES.values(), column, _NOT_PERMITTED)
        yield from _only_threads(_CLONE[column])
    if not signals:
        for numbers in _SIGNALS.values():
            yield from _only_to(numbers[column], os.getpid())
    yield _instruction(_RETURN, value=_ALLOW)


def _instruction(code: int, if_true: int = 0, if_false: int = 0, value: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _returning(calls: Iterable[_Numbers], column: int, error: int) -> Iterator[bytes]:
    for numbers in calls:
        number = numbers[column]
        if number is not None:
            yield _instruction(_JUMP_IF_EQUAL, 0, 1, number)
            yield _instruction(_RETURN, value=_ERROR | error)


def _checked(number: int | None, offset: int, test: list[bytes]) -> Iterator[bytes]:
    """Yield a test of an argument of a call, and the number of the call again."""
    if number is None:
        return
    yield _instruction(_JUMP_IF_EQUAL, 0, len(test) + 3, number)
    yield _instruction(_LOAD, value=offset)
    yield from test
    yield _instruction(_RETURN, value=_ERROR | _NOT_PERMITTED)
    yield _instruction(_LOAD, value=_NUMBER)


def _only_threads(number: int | None) -> Iterator[bytes]:
    yield from _checked(number, _FIRST, [_instruction(_JUMP_IF_ANY_BIT, 1, 0, _NEW_THREAD)])


def _only_to(number: int | None, process: int) -> Iterator[bytes]:
    yield from _checked(number, _FIRST, [_instruction(_JUMP_IF_EQUAL, 1, 0, process)])


def _unless_zero(number: int | None, offset: int) -> Iterator[bytes]:
    # Both halves of an address.
    yield from _checked(
        number,
        offset,
        [
            _instruction(_JUMP_IF_EQUAL, 0, 2, 0),
            _instruction(_LOAD, value=offset + 4),
            _instruction(_JUMP_IF_EQUAL, 1, 0, 0),
        ],
    )
