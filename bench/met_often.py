"""Count the breaks of the zoo's development set, for the home page of the site.

    python -m bench met_often [--write]

With --write, the counts go into `src/fullgraph/site/met_often.json`: ids and numbers only. Without
it, they are printed, and the benchmark misses if the committed ones differ.
"""

from __future__ import annotations

import argparse
import re
from importlib.metadata import version
from pathlib import Path

from msgspec import json

from bench import _zoo
from fullgraph.site.met_often import COUNTED, Counted, counted_breaks


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="met_often: write the counts")


def main(options: argparse.Namespace) -> bool:
    """Count; return whether the committed file has the same counts."""
    zoo = _zoo.folder()
    if zoo is None:
        print("met_often: set FULLGRAPH_ZOO to the zoo's folder")
        return False
    counted = _count(zoo)
    print(f"met_often: {len(counted.breaks)} breaks in {counted.models} models")
    for identifier, (models, sites) in counted.breaks.items():
        print(f"  {identifier}  {models:3} models  {sites:3} sites")
    if options.write:
        # One line per break, so that a difference can be read.
        text = json.format(json.encode(counted), indent=2).decode()
        COUNTED.write_text(re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", text) + "\n")
    return counted == counted_breaks()


def _count(zoo: Path) -> Counted:
    models = _zoo.development_set(zoo)
    found: dict[str, list[int]] = {}
    for model in models:
        ids = [site["id"] for site in _zoo.report_of(zoo, model)["sites"]]
        print(f"  {model:42} {len(ids):3} sites", flush=True)
        for identifier in {*ids} - {None}:
            found.setdefault(identifier, []).append(ids.count(identifier))
    often = sorted(found, key=lambda each: (-len(found[each]), -sum(found[each]), each))
    return Counted(
        models=len(models),
        torch=version("torch").partition("+")[0],
        transformers=version("transformers"),
        breaks={each: (len(found[each]), sum(found[each])) for each in often},
    )
