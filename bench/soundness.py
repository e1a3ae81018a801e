"""Generated programs against their fixes: `fullgraph fix` must not change what a program does.

    python -m bench soundness [--first-seed 0] [--seeds 100] [--records FOLDER] [--table]

Each seed is a program made of the shapes that one fixer matches. It is fixed, and the text with the
fixes that are written is compared with the original, in eager mode for many generated inputs and
compiled for some. A difference is a bug; it is shrunk and printed. With --records, each program is
a line in a file of that folder, and a later run goes on behind the seeds that are there. --table
prints the table of a folder.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from bench._soundness.check import checked_in_fork
from bench._soundness.generate import program_of
from bench._soundness.records import Record, append, records_in, table
from tests.fix.run_case import index_what_is_loaded

# How many programs share a process.
_TOGETHER = 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--first-seed", type=int, default=0, help="soundness: the first program")
    parser.add_argument("--seeds", type=int, default=44, help="soundness: how many programs")
    parser.add_argument("--inputs", type=int, default=40, help="soundness: inputs per program")
    parser.add_argument("--compiled", type=int, default=4, help="soundness: of these, compiled")
    parser.add_argument("--records", type=Path, help="soundness: the folder of records")
    parser.add_argument("--table", action="store_true", help="soundness: run nothing")


def main(options: argparse.Namespace) -> bool:
    """Check the programs of a range of seeds; return whether no fix that is written differs."""
    folder: Path | None = options.records
    known = records_in(folder) if folder is not None else []
    if not options.table:
        known += _run(options, {each.seed for each in known})
    print(table(known))
    for each in known:
        _print_differences(each)
    return not any(each.differing for each in known)


def _run(options: argparse.Namespace, known: set[int]) -> list[Record]:
    _prepare()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    found = []
    for some in batched([seed for seed in seeds if seed not in known], _TOGETHER):
        programs = [program_of(seed) for seed in some]
        for record in checked_in_fork(programs, inputs=options.inputs, compiled=options.compiled):
            found.append(record)
            print(_line(record), flush=True)
            _print_differences(record)
            if options.records is not None:
                options.records.mkdir(parents=True, exist_ok=True)
                append(options.records, record)
    return found


def batched(seeds: Sequence[int], number: int) -> Iterator[Sequence[int]]:
    """Yield the seeds in parts of a number."""
    for start in range(0, len(seeds), number):
        yield seeds[start : start + number]


def _prepare() -> None:
    """Load all that a fork needs, once."""
    # Compiling for inputs that the original rejects writes pages of errors.
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    logging.disable(logging.NOTSET)
    index_what_is_loaded()
    # It empties the cache of the processor at each compile, to log a time.
    torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0
    gc.collect()
    gc.freeze()


def _line(record: Record) -> str:
    compared = f"{record.eager} eager, {record.compiled} compiled" if record.used else ""
    return (
        f"  {record.seed:6} {record.fixer:26} {record.state:10} {record.seconds:6.1f} s  {compared}"
    )


def _print_differences(record: Record) -> None:
    for each in record.found:
        print(f"\nseed {record.seed}, {each.mode}: {each.problem}")
        for title, text in (
            ("program", each.program),
            ("fixed", each.fixed),
            ("input", each.given),
        ):
            print(f"--- {title}\n{text.rstrip()}")
    sys.stdout.flush()
