"""Write the number of entries per category and release into docs/taxonomy.md.

    python -m fullgraph.registry.taxonomy.counts [--check] DOCUMENT [RELEASE=FOLDER ...]

A folder contains the package torch, or the part of a wheel with its registry, as in
`2.15=unpacked/wheel`. The default is the installed torch. Columns of other releases are kept.
`--check` changes nothing and fails if a column is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import json

from fullgraph.installed_torch import FILE, release_of, torch_folder, torch_version
from fullgraph.registry.taxonomy import CATEGORIES, category_of

START = "<!-- counts: written by python -m fullgraph.registry.taxonomy.counts -->"
END = "<!-- end of counts -->"
_TABLE = re.compile(f"{re.escape(START)}\n(.*?){re.escape(END)}", re.DOTALL)
_ALL = "all"

Column = tuple[tuple[int, int], dict[str, int]]
Columns = dict[tuple[int, int], dict[str, int]]


def count(registry: Path) -> dict[str, int]:
    """Return the number of entries per category in a registry file, by newest wording."""
    entries: dict[str, list[dict[str, Any]]] = json.decode(registry.read_bytes())
    newest = [wordings[0] for wordings in entries.values()]
    counts = Counter(category_of(entry["Gb_type"], entry["Explanation"]) for entry in newest)
    counts[_ALL] = len(newest)
    return counts


def column_of(argument: str) -> Column:
    """Return the release and the counts for `2.15=FOLDER`."""
    version, _, folder = argument.partition("=")
    registry = Path(folder) / "torch" / "_dynamo" / FILE
    if not folder or not registry.is_file():
        sys.exit(f"{argument!r} is not RELEASE=FOLDER with a registry at torch/_dynamo/{FILE}.")
    return release_of(version), count(registry)


def installed_column() -> Column:
    """Return the release and the counts of the installed torch."""
    folder, version = torch_folder(), torch_version()
    if folder is None or version is None:
        sys.exit("No torch is installed here; name the folder of one.")
    return release_of(version), count(folder / "_dynamo" / FILE)


def read_table(document: str) -> Columns:
    """Return the counts in a document by release."""
    found = _TABLE.search(document)
    if found is None:
        sys.exit(f"The document has no place for the counts: {START}")
    rows = [_cells(line) for line in found[1].splitlines() if line.startswith("|")]
    if not rows:
        return {}
    releases = [release_of(name) for name in rows[0][1:]]
    return {
        release: {row[0].strip("`"): int(row[column]) for row in rows[2:]}
        for column, release in enumerate(releases, start=1)
    }


def write_table(document: str, columns: Columns) -> str:
    """Return the document with a new table."""
    releases = sorted(columns)
    names = [f"{major}.{minor}" for major, minor in releases]
    lines = [_row(["category", *names]), _row(["---"] + ["---:"] * len(names))]
    for name in [*(category.name for category in CATEGORIES), _ALL]:
        numbers = [str(columns[release].get(name, 0)) for release in releases]
        lines.append(_row([f"`{name}`" if name != _ALL else name, *numbers]))
    table = "\n".join(lines)
    return _TABLE.sub(lambda _: f"{START}\n{table}\n{END}", document)


def main(arguments: list[str] | None = None) -> int:
    """Update or check the document; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("document", type=Path)
    parser.add_argument("releases", metavar="RELEASE=FOLDER", nargs="*")
    parser.add_argument("--check", action="store_true", help="fail when the table is stale")
    given = parser.parse_args(arguments)
    columns = [column_of(argument) for argument in given.releases] or [installed_column()]
    old = given.document.read_text("utf-8")
    new = write_table(old, read_table(old) | dict(columns))
    if not given.check:
        given.document.write_text(new, "utf-8")
    elif new != old:
        print(f"The counts in {given.document} are stale: run this without --check.")
        return 1
    return 0


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
