"""The zoo: real transformers models, tiny and with random weights, in a folder of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path


def folder() -> Path | None:
    """`FULLGRAPH_ZOO`, or `shared/zoo` beside the project."""
    named = os.environ.get("FULLGRAPH_ZOO")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "zoo"
    return path if (path / "run_model.py").exists() else None


def development_set(zoo: Path) -> list[str]:
    return [entry["name"] for entry in json.loads((zoo / "dev.json").read_text())]
