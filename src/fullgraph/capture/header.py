"""What a session says about the process it comes from."""

from __future__ import annotations

import os
import platform
import site
import sys
import sysconfig
import time
from pathlib import Path

import fullgraph
from fullgraph.model.events import FORMAT_VERSION
from fullgraph.model.session import Header


def describe_process() -> Header:
    """The header for this process; torch is described if it has been imported."""
    torch = sys.modules.get("torch")
    return Header(
        format=FORMAT_VERSION,
        fullgraph=fullgraph.__version__,
        torch=str(getattr(torch, "__version__", "")),
        python=platform.python_version(),
        platform=platform.platform(),
        command=tuple(sys.orig_argv),
        directory=_directory(),
        process=os.getpid(),
        rank=_rank(),
        started=time.time(),
        torch_folder=str(Path(torch.__file__).parent) if torch and torch.__file__ else "",
        stdlib_folders=_folders(sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")),
        package_folders=_folders(
            sysconfig.get_path("purelib"),
            sysconfig.get_path("platlib"),
            *_site_packages(),
        ),
    )


def _site_packages() -> list[str]:
    # Absent where the interpreter was started with -S or from an old virtualenv.
    folders: list[str] = getattr(site, "getsitepackages", list)()
    return [*folders, site.getusersitepackages()]


def _folders(*paths: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _rank() -> int | None:
    rank = os.environ.get("RANK", "")
    return int(rank) if rank.isdigit() else None
