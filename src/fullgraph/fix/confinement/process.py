"""What a confined process may use, and how it gives up everything else."""

from __future__ import annotations

import ctypes
import os
import resource
import stat
import struct
import tempfile
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from fullgraph.fix.confinement import landlock, seccomp
from fullgraph.fix.confinement.system_calls import (
    drop_privileges_of_programs,
    process_control,
    system_call,
)

_MEGABYTE = 1 << 20
_LARGEST_FILE = 1024 * _MEGABYTE
_MOST_OPEN_FILES = 1024
# The capabilities that stay: to read files whose permissions say otherwise.
_READING = 0b110
_CAPABILITIES_VERSION = 0x20080522
_SET_CAPABILITIES = {"x86_64": 126, "aarch64": 91}
# Of `prctl`.
_KEEP_CAPABILITIES, _AMBIENT, _RAISE = 8, 47, 2
# The users that root becomes: other numbers than those of accounts, as containers have them, too.
_FIRST_USER, _USERS = 61_000, 4_000
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
# Only the process's own folder and what is about the machine: the command lines of other processes
# may have keys in them.
_SYSTEM_READS = (
    "/dev/random", "/dev/urandom", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/proc/filesystems", "/proc/sys",
)  # fmt: skip
# Where libraries look for a folder for their own files.
_SCRATCH_VARIABLES = (
    "TMPDIR", "TMP", "TEMP", "HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
    "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
    "FULLGRAPH_HOME",
)  # fmt: skip


class Confinement(Struct, frozen=True):
    """What a process that runs changed code may use."""

    # Files and folders that it may read, and those that it may only list.
    reads: tuple[str, ...]
    lists: tuple[str, ...] = ()
    # CPU time of one process.
    cpu_seconds: int = 120
    # How long it may take at all, however little of that it computes.
    seconds: float = 600.0
    # What it may use in addition to what it uses when it is confined.
    megabytes: int = 4096
    # Whether it may start others: some backends start compilers.
    processes: bool = False
    # How many processes and threads there can then be; they count with all others of a user, so
    # this is how many more than there are when the process is confined.
    most_processes: int = 100
    # How many files of which size it may leave in its folder, all together.
    scratch_megabytes: int = 1024


def missing() -> str:
    """Return what this system lacks for confining a process; empty if it has all."""
    if landlock.abi() < landlock.LEAST_ABI:
        return "Landlock, which Linux has from 6.2 on"
    return "" if seccomp.is_available() else "seccomp filters"


def confine(confinement: Confinement, scratch: Path) -> None:
    """Confine this process for good; OSError if that fails.

    It can write below `scratch` only. Files that it has open for writing, sockets and pipes become
    `/dev/null`. It must have a single thread: others would stay as they are.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise OSError("this process has more than one thread")
    _use_scratch(scratch)
    _limit(confinement)
    if confinement.processes:
        _limit_processes(confinement.most_processes, scratch)
    drop_privileges_of_programs()
    _drop_capabilities()
    landlock.restrict(
        [
            *((path, landlock.READ) for path in (*confinement.reads, *_SYSTEM_READS)),
            *((path, landlock.READ_DIR) for path in confinement.lists),
        ],
        [str(scratch)],
        _DEVICES,
    )
    keeps_signals = landlock.abi() >= landlock.SIGNALS_ABI
    seccomp.restrict(processes=confinement.processes, signals=keeps_signals)


def close_files(*kept: int) -> None:
    """Replace all open files by `/dev/null`, but those that are read only and some to keep."""
    null = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor not in (null, *kept) and not _is_read_only(descriptor):
            with suppress(OSError):
                os.dup2(null, descriptor, inheritable=descriptor <= 2)
    os.close(null)


def _is_read_only(descriptor: int) -> bool:
    import fcntl

    try:
        mode = os.fstat(descriptor).st_mode
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    except OSError:
        return True
    is_file = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return is_file and flags & os.O_ACCMODE == os.O_RDONLY


def _use_scratch(scratch: Path) -> None:
    os.environ.update(dict.fromkeys(_SCRATCH_VARIABLES, str(scratch)))
    # Its workers would have to be started by this process.
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    tempfile.tempdir = str(scratch)
    os.umask(0o077)


def _limit(confinement: Confinement) -> None:
    memory = _used_memory() + confinement.megabytes * _MEGABYTE
    seconds = confinement.cpu_seconds
    limits = {
        resource.RLIMIT_CPU: (seconds, seconds + 5),
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_FSIZE: (_LARGEST_FILE, _LARGEST_FILE),
        resource.RLIMIT_NOFILE: (_MOST_OPEN_FILES, _MOST_OPEN_FILES),
        resource.RLIMIT_CORE: (0, 0),
    }
    for kind, (soft, hard) in limits.items():
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))


def _limit_processes(most: int, scratch: Path) -> None:
    """Limit how many processes there can be; root becomes a user of its own, for whom this counts.

    The kernel limits the processes of a user, but not those of root.
    """
    if os.geteuid() == 0:
        user = _FIRST_USER + os.getpid() % _USERS
        os.chown(scratch, user, -1)
        for file in scratch.iterdir():
            os.chown(file, user, -1, follow_symlinks=False)
        process_control(_KEEP_CAPABILITIES, 1)
        os.setresuid(user, user, user)
        os.environ["USER"] = os.environ["LOGNAME"] = "fullgraph"
    else:
        most += _tasks_of(os.getuid())
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _tasks_of(user: int) -> int:
    """Return how many processes and threads a user has."""
    total = 0
    for file in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if file.stat().st_uid == user:
                total += len(os.listdir(file / "task"))
    return total


def _used_memory() -> int:
    """Return the bytes of the address space of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _drop_capabilities() -> None:
    """Give up what a process of root may do, except for reading what its files' modes forbid."""
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    kept = _READING & _permitted()
    sets = struct.pack("=IIIIII", kept, kept, kept, 0, 0, 0)
    number = _SET_CAPABILITIES[os.uname().machine]
    if system_call(number, ctypes.c_char_p(header), ctypes.c_char_p(sets)) != 0:
        raise OSError("the kernel does not take capabilities from this process")
    for capability in range(3):
        if kept & 1 << capability:
            # Programs that it starts need it as well.
            process_control(_AMBIENT, _RAISE, capability)


def _permitted() -> int:
    """Return the first 32 capabilities that this process may have."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapPrm:"):
            return int(line.split()[1], 16) & 0xFFFFFFFF
    return 0
