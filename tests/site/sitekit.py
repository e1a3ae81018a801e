"""Helpers for the tests of the site."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fullgraph.registry.sources import snapshot_named
from fullgraph.site.build import Built, build
from fullgraph.site.settings import make_plan

Registry = dict[str, list[dict[str, Any]]]


def rebuild(folder: Path, **options: str) -> Built:
    """Run `fullgraph site build` in this process."""
    plan = make_plan(**options)
    return build(snapshot_named(plan.release), plan, folder)


class SiteCli:
    """`fullgraph site` as a user runs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        self.running: list[subprocess.Popen[str]] = []

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "fullgraph", "site", *args]

    def __call__(self, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*args),
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**self.environment, **environment},
            check=False,
        )

    def start(self, *args: str) -> subprocess.Popen[str]:
        log = (self.folder / "log").open("w")
        process = subprocess.Popen(
            self.command(*args),
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )
        self.running.append(process)
        return process

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()


def until(happened: Callable[[], object], what: str, seconds: float = 120) -> None:
    """Wait until a condition is true; fail after a time limit."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
