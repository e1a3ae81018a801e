"""Make the output of a lesson the same wherever and whenever it runs."""

from __future__ import annotations

import re
from pathlib import Path

from fullgraph.installed_torch import torch_folder

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_TIME = re.compile(r"\b\d+(?:\.\d+)?(?= ?(?:ms|µs|us|s|seconds|milliseconds)\b)")


def normalized(text: str, folder: Path) -> str:
    """Return text without paths, times, addresses and blanks at the ends of lines."""
    return _TIME.sub("…", _ADDRESS.sub("0x…", without_folders(text, folder)))


def without_folders(text: str, folder: Path) -> str:
    """Return text without paths of this machine and blanks at the ends of lines."""
    torch = torch_folder()
    folders = [folder, folder.resolve(), *([torch.parent] if torch else [])]
    for each in folders:
        text = text.replace(f"{each}/", "")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
