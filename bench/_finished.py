"""Results of a long benchmark, kept in a file so that it continues after an interruption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench._environment import PROJECT


class Finished:
    """The results of a benchmark by name. They count only for the code that they were made with."""

    def __init__(self, name: str, sources: Iterable[Path]) -> None:
        self._file = PROJECT / "build" / f"{name}.jsonl"
        self._code = _digest(sources)
        self._results: dict[str, Any] = {}
        for line in self._file.read_text().splitlines() if self._file.exists() else ():
            entry = json.loads(line)
            if entry["code"] == self._code:
                self._results[entry["name"]] = entry["result"]

    def get(self, name: str) -> Any:
        """Return a result of an interrupted run; None if there is none."""
        return self._results.get(name)

    def add(self, name: str, result: Any) -> None:
        """Keep a result."""
        self._results[name] = result
        self._file.parent.mkdir(exist_ok=True)
        with self._file.open("a") as file:
            file.write(json.dumps({"code": self._code, "name": name, "result": result}) + "\n")

    def clear(self) -> None:
        """Forget everything: the benchmark has ended, and the next run starts over."""
        self._file.unlink(missing_ok=True)


def _digest(sources: Iterable[Path]) -> str:
    """Return a hash of source files and of the release of torch."""
    digest = hashlib.sha256(version("torch").encode())
    for folder in sources:
        for file in sorted(folder.rglob("*.py")):
            digest.update(str(file).encode() + file.read_bytes())
    return digest.hexdigest()
