"""Runs every benchmark: `python -m bench`, or some of them: `python -m bench startup overhead`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    folder = Path(__file__).parent
    names = sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))
    # Options, such as --train, are for the benchmark that knows them.
    wanted = [each for each in sys.argv[1:] if not each.startswith("-")] or names
    missing = [name for name in wanted if name not in names]
    if missing:
        sys.exit(f"no such benchmark: {', '.join(missing)} (there are: {', '.join(names)})")
    failed = [name for name in wanted if not import_module(f"bench.{name}").main()]
    if failed:
        sys.exit(f"missed: {', '.join(failed)}")


main()
