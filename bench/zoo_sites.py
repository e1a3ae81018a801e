"""Compare the break sites of `fullgraph run` with those of the zoo's own sweep, model by model.

Sites are compared by type, file and line; each must have a registry id. No difference from torch's
own counts may be unexplained.
"""

from __future__ import annotations

import argparse
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import _zoo

MODELS = (
    "LlavaNextForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration",
    "PaddleOCRVLForConditionalGeneration",
    "AriaForConditionalGeneration",
    "DbrxForCausalLM",
    "EncodecModel",
    "ReformerModel",
    "ViltModel",
    "PeAudioModel",
    "T5Model",
)
Site = tuple[str, str, int]
_LIBRARY = re.compile(r".*/site-packages/|.*/lib/python3\.\d+/")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="zoo_sites: the whole development set")


def main(options: argparse.Namespace) -> bool:
    """Print the differences and return whether there are none."""
    zoo = _zoo.folder()
    if zoo is None:
        print("zoo_sites: set FULLGRAPH_ZOO to the zoo's folder")
        return False
    models = _zoo.development_set(zoo) if options.all else MODELS
    with ThreadPoolExecutor(2) as pool:
        same = list(pool.map(lambda name: _compare(zoo, name), models))
    print(f"zoo_sites: {sum(same)} of {len(same)} models have exactly the same sites")
    return all(same)


def _compare(zoo: Path, name: str) -> bool:
    expected, (found, problems) = _swept(zoo, name), _reported(zoo, name)
    verdict = "same" if expected == found and not problems else "DIFFERENT"
    print(
        f"  {name:42} {len(expected):3} sites expected, {len(found):3} found  {verdict}", flush=True
    )
    for site in sorted(expected - found):
        print("      missing", site)
    for site in sorted(found - expected):
        print("      extra  ", site)
    for problem in problems:
        print("      problem", problem)
    return verdict == "same"


def _swept(zoo: Path, name: str) -> set[Site]:
    output = _zoo.run_python(zoo, "zoo_sweep.py", "--one", name)
    events = json.loads(output[output.index("{") :])["events"]
    return {(event["gb_type"], event["file"], event["line"]) for event in events}


def _reported(zoo: Path, name: str) -> tuple[set[Site], list[str]]:
    """Return the sites of the report, and what is wrong with it."""
    facts = _zoo.report_of(zoo, name)
    sites = facts["sites"]
    found = {(site["type"], _LIBRARY.sub("", site["file"]), site["line"]) for site in sites}
    problems = [f"no id: {site['key']}" for site in sites if not site["id"]]
    problems += [f"{each['what']}: {each['why']}" for each in facts["disagreements"]
                 if each["unexplained"]]  # fmt: skip
    return found, problems + [each["message"] for each in facts["problems"]]
