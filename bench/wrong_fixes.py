"""Fixes of programs whose headers have inputs that hide a difference.

    FULLGRAPH_WRONG_FIXES=FOLDER python -m bench wrong_fixes [--programs-named=01,03] [--unsafe]

Each program is copied to a folder of its own and fixed there. The written file is compared with the
original for the hidden inputs, in eager mode, with aot_eager, and with inductor if the header names
it. A difference in what a plain `--apply` writes is a wrong fix. With --unsafe everything that was
offered is written: the numbers of the inputs that differ then tell whether the named assumptions
exclude exactly these.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import torch

from fullgraph.model.fix_kinds import Safety
from fullgraph.model.grades import CHANGES
from fullgraph.outcomes.compare import compare_outcomes

VARIABLE = "FULLGRAPH_WRONG_FIXES"
_LONGEST = 300


class _Checked(NamedTuple):
    name: str
    # The grades of the fixes that were offered, and what each assumes or changes.
    offered: list[str]
    written: bool
    differences: list[str]
    # How many inputs the header hides.
    inputs: int = 0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--programs-named", help="wrong_fixes: only these, such as 01,03")
    parser.add_argument("--unsafe", action="store_true", help="wrong_fixes: write all fixes")


def main(options: argparse.Namespace | None = None) -> bool:
    """Check all programs; return whether no fix that was written is wrong."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        print(f"  {VARIABLE} is not set, so nothing is checked")
        return True
    named = getattr(options, "programs_named", None)
    unsafe = bool(getattr(options, "unsafe", False))
    wanted = named.split(",") if named else [""]
    wrong = offered = 0
    for file in sorted(Path(folder).glob("[0-9]*.py")):
        if not file.name.startswith(tuple(wanted)):
            continue
        found = _check(file, unsafe=unsafe)
        wrong += bool(found.differences)
        offered += bool(found.offered)
        state = "WRONG" if found.differences else "right" if found.written else "not written"
        print(f"  {found.name:32} {state:12} {found.inputs} inputs", flush=True)
        for offer in found.offered:
            print(f"      {offer}", flush=True)
        for difference in found.differences:
            print(f"      {difference}", flush=True)
    print(f"  wrong: {wrong}, programs with an offered fix: {offered}")
    return wrong == 0


def _check(file: Path, *, unsafe: bool) -> _Checked:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        original, fixed = folder / "original" / "prog.py", folder / "fixed" / "prog.py"
        for copy in (original, fixed):
            copy.parent.mkdir()
            copy.write_text(file.read_text())
        report = _fix(fixed, unsafe=unsafe)
        offered = [_offer(fix) for fix in report.get("fixes", [])]
        if unsafe and fixed.read_text() == original.read_text():
            # Not written, because it is slower: it has to be right all the same.
            _write_fixes(fixed, report)
        written = fixed.read_text() != original.read_text()
        if not written:
            return _Checked(file.stem, offered, written, [])
        backends = ("aot_eager", *(("inductor",) if "inductor" in header_of(file) else ()))
        effects = _effects(offered)
        inputs, differences = _differences(file, original, fixed, folder, backends, effects)
        return _Checked(file.stem, offered, written, differences, inputs)


def header_of(file: Path) -> str:
    """Return the comment at the top of a program."""
    return file.read_text().partition("\n\n")[0]


def _offer(fix: dict[str, Any]) -> str:
    details = ", ".join([*fix.get("assumes", []), *fix.get("changes", [])])
    grade = fix.get("grade") or fix.get("safety")
    return f"{fix['fixer']}: {grade}" + (f" ({details})" if details else "")


def _fix(program: Path, *, unsafe: bool) -> dict[str, Any]:
    output = program.with_name("fix.json")
    flags = ["--apply", "--force", *(["--unsafe"] if unsafe else [])]
    subprocess.run(
        [sys.executable, "-m", "fullgraph", "fix", "--format", "json", "-o", str(output), *flags,
         program.name],
        cwd=program.parent, capture_output=True, timeout=_LONGEST, check=False,
    )  # fmt: skip
    return dict(json.loads(output.read_text())) if output.exists() else {}


def _write_fixes(program: Path, report: dict[str, Any]) -> None:
    """Write the diff and the settings of a report into a program."""
    diff = program.with_name("fix.diff")
    diff.write_text(report.get("diff", ""))
    if diff.stat().st_size:
        subprocess.run(["patch", "-s", program.name, diff.name], cwd=program.parent, check=True)
    lines = [line for fix in report.get("fixes", []) for line in fix["settings"]]
    if lines:
        modules = [
            "import torch._dynamo",
            *(["import logging"] if "logging." in str(lines) else []),
        ]
        settings = [*modules, *dict.fromkeys(lines)]
        program.write_text("\n".join([*settings, program.read_text()]))


_OUTPUT: tuple[Safety, ...] = ("dropped", "reordered")


def _effects(offered: list[str]) -> str:
    """Return what the fixes say about output; lines that compiled code drops do not differ."""
    for effects in _OUTPUT:
        if any(CHANGES[effects] in each for each in offered):
            return effects
    return "exact"


def _differences(
    file: Path,
    original: Path,
    fixed: Path,
    folder: Path,
    backends: tuple[str, ...],
    effects: str,
) -> tuple[int, list[str]]:
    """Return how many inputs are hidden, and how the fixed program differs for them."""
    runs = {
        (path, backend): _outcomes(path, file, backend, folder)
        for path in (original, fixed)
        for backend in ("eager", *backends)
    }
    found = []
    for number, before in enumerate(runs[original, "eager"]):
        after = runs[fixed, "eager"][number]
        problems = compare_outcomes(before, after, exact=True).problems
        found += [f"eager, input {number}: {each}" for each in problems[:1]]
        for backend in backends:
            compiled = runs[fixed, backend][number]
            right = (before, runs[original, backend][number])
            both = [
                compare_outcomes(each, compiled, exact=False, effects=effects).problems
                for each in right
            ]
            if all(both):
                found.append(f"{backend}, input {number}: {both[0][0]}")
    return len(runs[original, "eager"]), found


def _outcomes(path: Path, header: Path, backend: str, folder: Path) -> list[Any]:
    output = folder / "outcomes.pt"
    output.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "bench._hidden_inputs",
         str(path), str(header), backend, str(output)],
        capture_output=True, text=True, timeout=_LONGEST, check=False,
        cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    if not output.exists():
        raise RuntimeError(done.stderr.strip()[-500:])
    return list(torch.load(output, weights_only=False))
