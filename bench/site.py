"""Measure site builds: full builds compared with Jekyll, rebuilds, and page sizes.

Both build the entries of torch 2.15.0, in alternating processes. Our pages contain code, charts,
history, search and JSON; Jekyll's contain only the texts of the registry. The registry is
downloaded if it is not cached.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench._timing import verdict
from fullgraph.folders import registry_cache_folder
from fullgraph.registry.sources import snapshot_named

RELEASE = "2.15.0"
ROUNDS = 5
MOST_OF_JEKYLL = 1.0
MOST_SECONDS_TO_REBUILD = 0.75
MOST_SECONDS_COLD = 3.0
MOST_SECONDS_UNCHANGED = 0.8
# A registry that is generated from the real one, to see how builds grow.
LARGE = 20_000
MOST_SECONDS_LARGE = 10.0
MOST_BYTES_OF_HOME = 150_000
MOST_BYTES_OF_A_BREAK = 30_000


def main() -> bool:
    """Run all measurements; return whether every target is met."""
    print(f"site: {RELEASE}")
    with tempfile.TemporaryDirectory() as name:
        bench = _Bench(Path(name))
        return all(
            [
                _against_jekyll(bench),
                _cold_and_unchanged(bench),
                _rebuild(bench),
                _large(bench),
                _weight(bench.out),
            ]
        )


class _Run(NamedTuple):
    seconds: float
    processor: float
    output: str


class _Bench:
    """A home with one registry, a site, and the same entries as pages for Jekyll."""

    def __init__(self, folder: Path) -> None:
        snapshot_named(RELEASE)
        self.folder = folder
        self.home = folder / "home"
        self.out = folder / "out"
        self.registry = self.home / "registry" / f"{RELEASE}.json"
        self.registry.parent.mkdir(parents=True)
        shutil.copy(registry_cache_folder() / self.registry.name, self.registry)
        self.environment = {
            **os.environ,
            "FULLGRAPH_HOME": str(self.home),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def build(self, release: str = RELEASE, out: Path | None = None) -> _Run:
        """Build the site."""
        target = str(out or self.out)
        command = [sys.executable, "-m", "fullgraph", "site", "build", "-o", target]
        return self._timed([*command, "--release", release])

    def write_large_registry(self) -> Path:
        """Write a registry with many copies of the entries, each with words of its own."""
        cached = json.loads(self.registry.read_bytes())
        wordings = [each[0] for each in cached["snapshot"]["entries"].values()]
        large = {}
        for number in range(LARGE):
            wording = wordings[number % len(wordings)]
            kind = f"{wording['Gb_type']} number {number}"
            large[f"GB{number:05d}"] = [{**wording, "Gb_type": kind}]
        file = self.folder / "large.json"
        file.write_text(json.dumps(large))
        return file

    def full_build(self) -> _Run:
        """Build the site into an empty folder."""
        shutil.rmtree(self.out, ignore_errors=True)
        return self.build()

    def change_an_entry(self, text: str) -> None:
        """Change one entry of the registry."""
        cached: dict[str, Any] = json.loads(self.registry.read_bytes())
        cached["snapshot"]["entries"]["GB0124"][0]["Hints"] = [text]
        self.registry.write_text(json.dumps(cached))

    def write_jekyll_pages(self) -> int:
        """Write one page per entry for Jekyll; return their number."""
        pages = self.folder / "pages"
        pages.mkdir()
        (pages / "_config.yml").write_text("title: Graph breaks\n")
        cached = json.loads(self.registry.read_bytes())
        for name, wordings in cached["snapshot"]["entries"].items():
            (pages / f"{name.lower()}.md").write_text(_bare_page(name, wordings[0]))
        return len(cached["snapshot"]["entries"])

    def jekyll(self) -> _Run:
        """Build the pages with Jekyll."""
        shutil.rmtree(self.folder / "jekyll", ignore_errors=True)
        command = ["jekyll", "build", "--quiet", "--disable-disk-cache"]
        places = ["-s", str(self.folder / "pages"), "-d", str(self.folder / "jekyll")]
        return self._timed([*command, *places])

    def _timed(self, command: list[str]) -> _Run:
        before, start = _processor_seconds(), time.perf_counter()
        done = subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=self.folder,
        )
        seconds = time.perf_counter() - start
        return _Run(seconds, _processor_seconds() - before, done.stdout)


def _processor_seconds() -> float:
    """Return the CPU time of all finished child processes, which load hardly affects."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _shown(runs: Sequence[_Run]) -> str:
    times = [run.seconds for run in runs]
    processor = median(run.processor for run in runs)
    return f"median {median(times):.2f} s, best {min(times):.2f} s, processor {processor:.2f} s"


def _bare_page(name: str, wording: dict[str, Any]) -> str:
    """Return a page with the same sections as on the original site."""
    hints = "\n".join(f"- {hint}" for hint in wording["Hints"])
    parts = {
        "Graph-Break Type": wording["Gb_type"],
        "Context": wording["Context"],
        "Explanation": wording["Explanation"],
        "Hints": hints,
        "Additional Information": "",
    }
    body = "".join(f"## {title}\n\n{text}\n\n" for title, text in parts.items())
    # Text that looks like Liquid must stay text.
    head = f"---\ntitle: {name}\n---\n{{% raw %}}\n# {name}\n\n"
    return f"{head}{body}[Home](index.html)\n{{% endraw %}}\n"


def _against_jekyll(bench: _Bench) -> bool:
    if shutil.which("jekyll") is None:
        print("  jekyll is not installed here: apt-get install jekyll")
        return False
    count = bench.write_jekyll_pages()
    bench.full_build()  # The first run writes bytecode.
    pairs = [(bench.full_build(), bench.jekyll()) for _ in range(ROUNDS)]
    ours, theirs = zip(*pairs, strict=True)
    files = sum(file.is_file() for file in bench.out.rglob("*"))
    print(f"  ours: {files} files, {_shown(ours)}")
    print(f"  jekyll: {count} pages, {_shown(theirs)}")
    ratio = median(run.seconds for run in ours) / median(run.seconds for run in theirs)
    return verdict("full build, to jekyll", ratio, MOST_OF_JEKYLL)


def _cold_and_unchanged(bench: _Bench) -> bool:
    cold = [bench.full_build() for _ in range(ROUNDS)]
    unchanged = [bench.build() for _ in range(ROUNDS)]
    print(f"  cold: {_shown(cold)}")
    print(f"  unchanged: {_shown(unchanged)}")
    seconds = [median(run.seconds for run in runs) for runs in (cold, unchanged)]
    return all(
        [
            verdict("seconds of a cold build, median", seconds[0], MOST_SECONDS_COLD),
            verdict("seconds of an unchanged build", seconds[1], MOST_SECONDS_UNCHANGED),
        ]
    )


def _large(bench: _Bench) -> bool:
    run = bench.build(str(bench.write_large_registry()), bench.folder / "large")
    print(f"  {LARGE} entries: {_shown([run])}")
    return verdict(f"seconds to build {LARGE} entries", run.seconds, MOST_SECONDS_LARGE)


def _rebuild(bench: _Bench) -> bool:
    runs = []
    for number in range(ROUNDS):
        bench.change_an_entry(f"Another hint, number {number}.")
        runs.append(bench.build())
    written = re.sub(r".*: (\d+ written).*", r"\1", runs[-1].output.strip())
    print(f"  one entry changed: {written}, {_shown(runs)}")
    seconds = median(run.seconds for run in runs)
    return verdict("seconds to rebuild, median", seconds, MOST_SECONDS_TO_REBUILD)


def _weight(site: Path) -> bool:
    home = site / "index.html"
    loaded = re.findall(r'(?:src|href)="(assets/[^"?]+)', home.read_text())
    # The search loads these when the box gets the focus.
    scripts = [f"assets/{file.name}" for file in sorted(site.glob("assets/search*.js"))]
    loaded += ["search-index.js", *scripts]
    total = _compressed(home) + sum(_compressed(site / name) for name in dict.fromkeys(loaded))
    pages = {file.name: _compressed(file) for file in (site / "gb").glob("*.html")}
    biggest = max(pages, key=lambda name: pages[name])
    print(f"  home with {', '.join(dict.fromkeys(loaded))}; the biggest break is {biggest}")
    return all(
        [
            verdict("KB of the home page, compressed", total / 1000, MOST_BYTES_OF_HOME / 1000),
            verdict(
                "KB of a break, compressed", pages[biggest] / 1000, MOST_BYTES_OF_A_BREAK / 1000
            ),
        ]
    )


def _compressed(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), mtime=0))
