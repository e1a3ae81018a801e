"""Check one program: fix it, compare it for generated inputs, shrink what differs."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from bench._soundness.compare import Compared, Difference, compare_all
from bench._soundness.fixed import FixedProgram, fix_program
from bench._soundness.inputs import inputs_of
from bench._soundness.observe import constants_of
from bench._soundness.program import Program
from bench._soundness.records import Found, Record, append, records_in
from bench._soundness.shrink import shrink

# The seconds after which a program that hangs is killed.
_MOST_WALL = 900
_GRADES = ("safe", "changes", "assumes", "unverified")


def checked(program: Program, *, inputs: int, compiled: int, most_shrunk: int = 2) -> Record:
    """Fix and compare a program in this process."""
    started = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        fixed = fix_program(program, Path(name))
    compared = Compared()
    found: list[Found] = []
    if fixed.used:
        given = inputs_of(program, inputs, constants_of(program.text))
        compared = compare_all(program.text, fixed, given, compiled)
        for difference in _distinct(compared.differences)[:most_shrunk]:
            found.append(_shrunk(program, fixed, difference))
    details = tuple(
        f"{fixer}: {grade}" + (f" ({why})" if why else "") for fixer, grade, why in fixed.fixes
    )
    return Record(
        program.seed,
        program.fixer,
        _state(fixed),
        tuple(dict.fromkeys(fixed.used)),
        details or (fixed.reason,),
        compared.eager,
        compared.rejected,
        compared.compiled,
        len(compared.differences),
        tuple(found),
        round(time.process_time() - started, 2),
    )


def _state(fixed: FixedProgram) -> str:
    """Return the best grade of the fixes; it counts as safe only if the text was compared."""
    grades = {grade for _, grade, _ in fixed.fixes}
    if not fixed.used:
        grades -= {"safe", "changes"} if grades - {"safe", "changes"} else set()
    return next((each for each in _GRADES if each in grades), "refused")


def _distinct(differences: list[Difference]) -> list[Difference]:
    return list({(each.mode, each.problem): each for each in reversed(differences)}.values())


def _shrunk(program: Program, fixed: FixedProgram, difference: Difference) -> Found:
    small, text, left = shrink(program, fixed, difference)
    return Found(left.mode, left.problem, small.text, text, left.given.source())


def checked_in_fork(programs: Sequence[Program], *, inputs: int, compiled: int) -> Iterator[Record]:
    """Check programs in a fork of this process; if one ends it, the others get a fork of their own.

    What a fork writes is copied, which takes as long as a program, so several share one.
    """
    left = list(programs)
    while left:
        found, error = _records_of_fork(left, inputs=inputs, compiled=compiled)
        yield from found
        left = left[len(found) :]
        if left and error:
            yield Record(left[0].seed, left[0].fixer, "failed", details=(error,))
            left = left[1:]


def _records_of_fork(
    programs: Sequence[Program], *, inputs: int, compiled: int
) -> tuple[list[Record], str]:
    """Return the records of the programs before one that ends the fork, and why it ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        child = os.fork()
        if child == 0:
            try:
                torch.set_num_threads(1)
                for program in programs:
                    # A program that hangs ends its fork.
                    signal.alarm(_MOST_WALL)
                    append(folder, _checked_or_failed(program, inputs=inputs, compiled=compiled))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return records_in(folder), f"the process ended with status {status}"


def _checked_or_failed(program: Program, *, inputs: int, compiled: int) -> Record:
    try:
        return checked(program, inputs=inputs, compiled=compiled)
    except Exception as error:
        where = traceback.format_exc().strip().splitlines()[-6:-1]
        reason = f"{type(error).__name__}: {error}"
        return Record(program.seed, program.fixer, "failed", details=(reason, *where))
