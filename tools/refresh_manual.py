"""Run the commands of the manual and write their outputs.

python -m tools.refresh_manual              all chapters
python -m tools.refresh_manual run fix      some of them
python -m tools.refresh_manual --check      writes nothing; exits with code 1 if one is stale
"""

from __future__ import annotations

import sys

from fullgraph.files import replace_file
from fullgraph.guide.manual import (
    CHAPTERS,
    outputs_of,
    read_chapter,
    stale_commands,
    with_outputs,
)


def main() -> int:
    """Refresh or check the chapters that are named, or all."""
    names = [name for name in sys.argv[1:] if name != "--check"]
    check = "--check" in sys.argv[1:]
    files = [f for f in sorted(CHAPTERS.glob("*.md")) if not names or read_chapter(f).id in names]
    stale = 0
    for file in files:
        chapter = read_chapter(file)
        outputs = outputs_of(chapter)
        found = stale_commands(chapter, outputs)
        stale += len(found)
        print(f"{file.name}: {', '.join(found) or 'as before'}", flush=True)
        # Measurements are written again only if someone asks for the chapter.
        if (found or names) and not check:
            text = with_outputs(file.read_text("utf-8"), outputs)
            replace_file(file, [text.encode()])
    if not files:
        print("there is no such chapter", file=sys.stderr)
    return 1 if not files or (check and stale) else 0


if __name__ == "__main__":
    sys.exit(main())
