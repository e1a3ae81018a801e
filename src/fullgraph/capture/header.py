"""The header of a session: the process that it comes from."""

from __future__ import annotations

import os
import platform
import sys
import time

import fullgraph
from fullgraph.model.events import FORMAT_VERSION
from fullgraph.model.owners import folders_of_this_process
from fullgraph.model.session import Header


def describe_process() -> Header:
    """Return the header of this process, with the version of torch if torch is imported."""
    torch = sys.modules.get("torch")
    folders = folders_of_this_process()
    return Header(
        format=FORMAT_VERSION,
        fullgraph=fullgraph.__version__,
        torch=str(getattr(torch, "__version__", "")),
        python=platform.python_version(),
        platform=platform.platform(),
        command=tuple(sys.orig_argv),
        directory=folders.directory,
        process=os.getpid(),
        rank=_rank(),
        started=time.time(),
        torch_folder=folders.torch_folder,
        stdlib_folders=folders.stdlib_folders,
        package_folders=folders.package_folders,
    )


def _rank() -> int | None:
    rank = os.environ.get("RANK", "")
    return int(rank) if rank.isdigit() else None
