"""Run the lessons of the guide and write their outputs and pictures.

python -m tools.refresh_lessons             all lessons
python -m tools.refresh_lessons guards      one of them
"""

from __future__ import annotations

import sys
from pathlib import Path

from fullgraph.files import replace_file
from fullgraph.guide.lesson import LESSONS, read_lesson, with_results
from fullgraph.guide.running import LessonFailedError, results_in_a_fork


def refresh(file: Path) -> bool:
    """Run a lesson; return whether its file changed."""
    before = file.read_text("utf-8")
    after = with_results(before, results_in_a_fork(read_lesson(file)))
    if after != before:
        replace_file(file, [after.encode()])
    return after != before


def main() -> None:
    """Refresh the lessons that are named, or all."""
    import torch._dynamo  # noqa: F401  (the forks share it)

    names = sys.argv[1:]
    files = [
        file for file in sorted(LESSONS.glob("*.md")) if not names or read_lesson(file).id in names
    ]
    failed = False
    for file in files:
        try:
            print(f"{file.name}: {'changed' if refresh(file) else 'as before'}", flush=True)
        except LessonFailedError as error:
            failed = True
            print(error, file=sys.stderr)
    sys.exit(failed or not files)


if __name__ == "__main__":
    main()
