"""Runs every benchmark: `python -m bench`, or some of them: `python -m bench startup overhead`.

A benchmark with options has a function `add_options(parser)`, and its `main` takes the parsed
options. All benchmarks share one parser, so the name of an option is unique among them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        sys.exit(f"{message}; python -m bench --help lists the options")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the named benchmarks, or all of them; exit with their names if some missed."""
    benchmarks = {name: import_module(f"bench.{name}") for name in _names()}
    options = _parser(benchmarks).parse_intermixed_args(arguments)
    missing = [name for name in options.benchmarks if name not in benchmarks]
    if missing:
        sys.exit(f"no such benchmark: {', '.join(missing)} (there are: {', '.join(benchmarks)})")
    wanted = options.benchmarks or list(benchmarks)
    failed = [name for name in wanted if not _run(benchmarks[name], options)]
    if failed:
        sys.exit(f"missed: {', '.join(failed)}")


def _names() -> list[str]:
    files = Path(__file__).parent.glob("*.py")
    return sorted(file.stem for file in files if not file.stem.startswith("_"))


def _parser(benchmarks: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m bench", allow_abbrev=False)
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=", ".join(benchmarks))
    for module in benchmarks.values():
        if hasattr(module, "add_options"):
            module.add_options(parser)
    return parser


def _run(benchmark: ModuleType, options: argparse.Namespace) -> bool:
    takes_options = hasattr(benchmark, "add_options")
    return bool(benchmark.main(options) if takes_options else benchmark.main())


if __name__ == "__main__":
    main()
