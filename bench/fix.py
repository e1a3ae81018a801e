"""What `fullgraph fix` does for the zoo's development set; the tables are in docs/fix-results.md.

    python -m bench fix [--train] [--models=NAME,...] [--backend=inductor] [--results=FOLDER]
                        [--kept]

For each model: `fullgraph fix` with everything. A model counts as fixed
when no break and no skipped frame remains and the fixes are verified with eager and aot_eager; with
--backend also with that one, and without the settings. Results that are in FOLDER already are not
measured again, so that an interrupted run can continue; with --kept nothing is run, and the table
has what is there. The cost is the CPU time of the whole process tree until the verified result, and
its ratio to a plain run of the program; how fast the result is, is not measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench import _zoo
from bench._timing import cpu_seconds

RESULTS = Path(__file__).parents[1] / "docs" / "fix-results.md"
# The cost of a model: the median, and the worst, which may take some seconds more.
_MEDIAN_RATIO = 3.0
_WORST_RATIO = 5.0
_MORE_SECONDS = 10.0
_HEADS = (
    "model", "sites", "graphs", "skipped frames", "verified", "own run, CPU s", "fix, CPU s",
    "ratio", "fixers", "value guards",
)  # fmt: skip


class Result(NamedTuple):
    model: str
    report: dict[str, Any] | None
    # CPU seconds of the search with all that belongs to it, and of a plain run.
    cost: float
    own: float
    error: str = ""

    @property
    def ratio(self) -> float:
        """How many plain runs of the program it costs to find its fixes."""
        return self.cost / self.own if self.own else 0.0

    def number(self, name: str, when: str) -> int:
        return int(self.report["summary"][name][when]) if self.report else 0

    def change(self, name: str) -> str:
        if self.report is None:
            return self.error
        return f"{self.number(name, 'before')} → {self.number(name, 'after')}"

    @property
    def broke(self) -> bool:
        return self.number("sites", "before") > 0

    @property
    def fixed(self) -> bool:
        return (
            self.report is not None
            and bool(self.report["summary"]["verified"])
            and not self.number("sites", "after")
            and not self.number("skipped_frames", "after")
            and all(fix["grade"] != "unverified" for fix in self.report["fixes"])
        )

    @property
    def fixers(self) -> str:
        fixes = (self.report or {})["fixes"]
        return ", ".join(dict.fromkeys(f"{each['fixer']} ({each['grade']})" for each in fixes))

    @property
    def guards(self) -> str:
        """Return how many value guards there are, and their cost per call."""
        found = self.report["guards"] if self.report else ()
        cost = sum(guard["microseconds"] for guard in found)
        return f"{len(found)}, {cost:.0f} µs" if found else ""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--train", action="store_true", help="fix: with gradients")
    parser.add_argument("--models", default="", metavar="NAME,...", help="fix: only these models")
    parser.add_argument("--backend", default="", help="fix: verify with it as well")
    parser.add_argument("--results", default="", metavar="FOLDER", help="fix: of kept results")
    parser.add_argument("--kept", action="store_true", help="fix: run nothing; show kept results")


def main(options: argparse.Namespace) -> bool:
    zoo = _zoo.folder()
    if zoo is None:
        print("fix: set FULLGRAPH_ZOO to the zoo's folder")
        return False
    names = [each for each in options.models.split(",") if each]
    train = options.train
    models = names or _zoo.development_set(zoo)
    backend = ["--backend", options.backend] if options.backend else []
    full = [_show(_fix(zoo, model, options, *backend)) for model in models]
    if backend:
        _write(backend[1], _HEADS, [_cells(one) for one in full])
    elif not names:
        _write("train" if train else "eval", _HEADS, [_cells(one) for one in full])
    return _verdict(full)


def _fix(zoo: Path, model: str, options: argparse.Namespace, *more: str) -> Result:
    train = options.train
    arguments = [*more, "run_model.py", model, *(["--train"] if train else [])]
    folder = Path(options.results or tempfile.mkdtemp()) / "-".join(arguments).replace("--", "")
    folder.mkdir(parents=True, exist_ok=True)
    output, costs = folder / "fix.json", folder / "costs.json"
    if not costs.exists() and options.kept:
        return Result(model, None, 0.0, 0.0, "not measured yet")
    if not costs.exists():
        plain = [each for each in arguments if each not in more]
        with tempfile.TemporaryFile("w+") as printed:
            own = cpu_seconds([sys.executable, *plain], str(zoo), printed)
            cost = cpu_seconds(
                [
                    sys.executable, "-m", "fullgraph", "fix", "--no-speed",
                    "--format", "json", "-o", str(output), *arguments,
                ],
                str(zoo), printed,
            )  # fmt: skip
        error = "" if output.exists() else "no report"
        costs.write_text(json.dumps([cost, own, error]))
    cost, own, error = json.loads(costs.read_text())
    report = json.loads(output.read_text()) if output.exists() else None
    return Result(model, report, cost, own, error)


def _show(result: Result) -> Result:
    if result.report is None:
        print(f"  {result.model:42} failed: {result.error}", flush=True)
        return result
    sites, graphs = result.report["summary"]["sites"], result.report["summary"]["graphs"]
    verdict = "ok" if not result.broke or result.fixed else "LEFT"
    print(
        f"  {result.model:42} sites {sites['before']:2} → {sites['after']:2}  "
        f"graphs {graphs['before']:2} → {graphs['after']:2}  {result.cost:4.0f} s  "
        f"{result.ratio:4.1f} runs  {verdict:4}  {result.fixers}",
        flush=True,
    )
    for remaining in result.report["remaining"]:
        place = remaining["location"]
        print(
            f"      remaining {place['id']} {Path(place['file']).name}:{place['line']}", flush=True
        )
        for rejected in remaining["rejected"][-3:]:
            print(f"          {rejected['title']}: {rejected['reason'][:140]}", flush=True)
    return result


def _verdict(results: list[Result]) -> bool:
    breaking = [each for each in results if each.broke]
    before = sum(each.number("sites", "before") for each in breaking)
    after = sum(each.number("sites", "after") for each in breaking)
    fixed = sum(each.fixed for each in breaking)
    ratio = statistics.median([each.ratio for each in results])
    slow = [each for each in results if each.cost > _WORST_RATIO * each.own + _MORE_SECONDS]
    print(
        f"fix: {fixed} of {len(breaking)} breaking models without a break, "
        f"{before - after} of {before} sites gone; median cost {ratio:.1f} runs (at most "
        f"{_MEDIAN_RATIO:.0f}), and {len(slow)} cost more than {_WORST_RATIO:.0f} runs and "
        f"{_MORE_SECONDS:.0f} s"
    )
    untouched = all(not each.report["fixes"] for each in results if each.report and not each.broke)
    is_cheap = ratio <= _MEDIAN_RATIO and not slow
    return fixed >= len(breaking) - 2 and before - after >= 0.9 * before and untouched and is_cheap


def _write(table: str, heads: tuple[str, ...], rows: list[list[str]]) -> None:
    """Replace one table in the document."""
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]
    start, end = f"<!-- {table} -->", f"<!-- end of {table} -->"
    text = RESULTS.read_text(encoding="utf-8")
    head, rest = text.split(start, 1)
    tail = rest.split(end, 1)[1]
    RESULTS.write_text("\n".join([head + start, *lines, end + tail]), encoding="utf-8")


def _cells(result: Result) -> list[str]:
    if result.report is None:
        return [result.model, result.error, *[""] * (len(_HEADS) - 2)]
    return [
        result.model,
        result.change("sites"),
        result.change("graphs"),
        result.change("skipped_frames"),
        "yes" if result.report["summary"]["verified"] else "no",
        f"{result.own:.1f}",
        f"{result.cost:.1f}",
        f"{result.ratio:.1f}",
        result.fixers or "–",
        result.guards or "–",
    ]
