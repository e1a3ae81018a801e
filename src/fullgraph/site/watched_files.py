"""What a site is made of on this machine, to notice that something of it has changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import fullgraph
from fullgraph.installed_torch import torch_folder
from fullgraph.registry.entries import REGISTRY_FILE
from fullgraph.site.settings import FILE, Plan

# From a path to its time and size.
Stamp = dict[str, tuple[int, int]]
_PACKAGE = Path(fullgraph.__file__).parent
# Pages are made by these parts of fullgraph.
_MAKERS = ("site", "catalog", "registry", "render")


def is_address(release: str | None) -> bool:
    return release is not None and release.startswith(("http://", "https://"))


def stamp(plan: Plan) -> Stamp:
    """Everything that a person can change while a site is being looked at."""
    makers = (file for name in _MAKERS for file in _files(_PACKAGE / name))
    return _stamp((*contributions(plan), *_source(plan), *makers))


def stamp_of_contributions(plan: Plan) -> Stamp:
    return _stamp(contributions(plan))


def contributions(plan: Plan) -> Iterator[Path]:
    """Settings, additional information, results of sweeps."""
    yield plan.file or Path(FILE)
    yield from _files(plan.info)
    if plan.seen is not None:
        yield from _files(plan.seen)


def _source(plan: Plan) -> Iterator[Path]:
    if plan.release is None:
        torch = torch_folder()
        if torch is not None:
            yield torch / REGISTRY_FILE
        return
    if is_address(plan.release):
        return
    path = Path(plan.release).expanduser()
    if path.is_dir():
        torch = path / "torch" if (path / "torch").is_dir() else path
        yield from _files(torch / "_dynamo")
    else:
        yield path


def _files(path: Path) -> Iterator[Path]:
    """A file itself, or what is in a folder."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(folder, name) for name in names)


def _stamp(files: Iterator[Path] | tuple[Path, ...]) -> Stamp:
    found = {}
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue  # it is not there, or not any more
        found[str(file)] = (status.st_mtime_ns, status.st_size)
    return found
