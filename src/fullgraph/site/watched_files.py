"""Detect changes of the local files that a site is made of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import fullgraph
from fullgraph.installed_torch import torch_folder
from fullgraph.registry.entries import REGISTRY_FILE
from fullgraph.site.settings import FILE, BuildPlan

# From a path to its time and size.
Stamp = dict[str, tuple[int, int]]
_PACKAGE = Path(fullgraph.__file__).parent
# The parts of fullgraph that make pages.
_MAKERS = ("site", "catalog", "registry", "guide", "fix/fixers")


def is_url(release: str | None) -> bool:
    """Check whether a source is an http(s) URL."""
    return release is not None and release.startswith(("http://", "https://"))


def stamp(plan: BuildPlan) -> Stamp:
    """Return the state of all files that can change while a site is served."""
    makers = (file for name in _MAKERS for file in _files(_PACKAGE / name))
    return _stamp((*contributions(plan), *_source(plan), *makers))


def stamp_of_contributions(plan: BuildPlan) -> Stamp:
    """Return the state of settings, information, reports and a local registry."""
    return _stamp(contributions(plan))


def contributions(plan: BuildPlan) -> Iterator[Path]:
    """Yield the settings, additional information, reports and a local registry."""
    yield plan.file or Path(FILE)
    yield from _files(plan.info)
    if plan.reports is not None:
        yield from _files(plan.reports)


def _source(plan: BuildPlan) -> Iterator[Path]:
    if plan.release is None:
        torch = torch_folder()
        if torch is not None:
            yield torch / REGISTRY_FILE
        return
    if is_url(plan.release):
        return
    path = Path(plan.release).expanduser()
    if path.is_dir():
        torch = path / "torch" if (path / "torch").is_dir() else path
        yield from _files(torch / "_dynamo")
    else:
        yield path


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files in a folder."""
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
            continue  # The file does not exist, or no longer.
        found[str(file)] = (status.st_mtime_ns, status.st_size)
    return found
