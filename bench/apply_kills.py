"""Kill `fullgraph fix` while it writes or reverts files: are all files written, or none?

First at each operation that changes a file, while three files are written, reverted, and recovered
after an earlier kill; then at random moments of writing and reverting large files.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench._kills import Files, Left

FILES = 3
RANDOM = 200
# About 1.5 MB each, so that most of the time is spent writing.
LINES = 200_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--kill-seed", type=int, default=1, help="apply_kills: random moments")


def main(options: argparse.Namespace | None = None) -> bool:
    """Print how many kills left something half done; return whether none did."""
    seed = int(getattr(options, "kill_seed", 1))
    print(f"apply_kills: {FILES} files; all or none after recovery, and --undo works")
    right = True
    for stage in ("apply", "undo", "recover"):
        with tempfile.TemporaryDirectory() as folder:
            files = Files(Path(folder), count=FILES, lines=2)
            right &= _shown(f"SIGKILL at each operation of {stage}", files.kill_at_each(stage))
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), count=FILES, lines=LINES)
        right &= _shown("SIGKILL at random moments", files.kill_at_random(RANDOM, seed))
    return right


def _shown(what: str, kills: Iterable[Left]) -> bool:
    found = list(kills)
    wrong = [each for each in found if not each.is_right]
    mixed = sum(len(set(each.killed)) > 1 for each in found)
    print(f"  {what}: {len(found) - len(wrong)} of {len(found)} right ({mixed} were half done)")
    for each in wrong[:5]:
        print(f"      {each}")
    return bool(found) and not wrong
