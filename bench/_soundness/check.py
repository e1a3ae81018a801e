"""Check one program: fix it, compare it for generated inputs, shrink what differs."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

import msgspec
import torch

from bench._soundness.compare import Compared, Difference, compare_all
from bench._soundness.fixed import FixedProgram, fix_program
from bench._soundness.inputs import inputs_of
from bench._soundness.observe import constants_of
from bench._soundness.program import Program
from bench._soundness.records import Found, Record
from bench._soundness.shrink import shrink

# The CPU seconds after which a program is given up, and the wall time after which it is killed.
_MOST_CPU = 120
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


def checked_in_fork(program: Program, *, inputs: int, compiled: int) -> Record:
    """Check a program in a fork of this process, so that nothing of it is left."""
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "record.json"
        child = os.fork()
        if child == 0:
            code = 1
            try:
                torch.set_num_threads(1)
                signal.alarm(_MOST_WALL)
                _write(checked(program, inputs=inputs, compiled=compiled), output)
                code = 0
            except BaseException:
                (Path(name) / "error").write_text(traceback.format_exc())
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        with suppress(FileNotFoundError, msgspec.DecodeError):
            return msgspec.json.decode(output.read_bytes(), type=Record)
        error = Path(name) / "error"
        lines = error.read_text().strip().splitlines() if error.exists() else []
        reason = lines[-1] if lines else f"the process ended with status {status}"
        return Record(program.seed, program.fixer, "failed", details=(reason, *lines[-7:-1]))


def _write(record: Record, file: Path) -> None:
    file.write_bytes(msgspec.json.encode(record))
