"""Check that the committed files that a command writes are up to date with the installed torch.

    python -m tools.check_generated

Exits with code 1 and names the command that writes the file if a file is stale.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
COUNTS = ["fullgraph.registry.taxonomy.counts", "docs/taxonomy.md"]
FACTS = ["fullgraph", "registry", "sync", "--facts", "src/fullgraph/registry/facts"]


def commands() -> list[list[str]]:
    """Return the arguments of `python -m` that write each generated file; all take --check."""
    torch = find_spec("torch")
    if torch is None or torch.origin is None:
        sys.exit("torch is not installed here; run make test, which installs it")
    # The folder that torch is installed in has what a wheel has: the registry and its source.
    return [COUNTS, [*FACTS, "--from", str(Path(torch.origin).parent.parent)]]


def is_current(command: list[str], home: str) -> bool:
    """Return whether a generated file is current; print why not."""
    done = subprocess.run(
        [sys.executable, "-m", *command, "--check"],
        cwd=ROOT, env={**os.environ, "FULLGRAPH_HOME": home}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        print(done.stdout + done.stderr, end="", file=sys.stderr)
        print(f"write it with: python -m {' '.join(command)}", file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    """Return 0 if every generated file is current, else 1."""
    # What is read from torch is cached; the cache of the user must not answer instead.
    with tempfile.TemporaryDirectory() as home:
        current = [is_current(command, home) for command in commands()]
    return 0 if all(current) else 1


if __name__ == "__main__":
    sys.exit(main())
