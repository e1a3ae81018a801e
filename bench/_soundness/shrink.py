"""Shrink a program and an input that show a difference: drop statements and changes of the input.

A smaller program is kept if it gets a fix by itself that differs for the same input in the same
mode. The program that remains still gets a fix and still differs from it.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench._soundness.compare import Difference, compiled_problem, eager_problem
from bench._soundness.fixed import FixedProgram, fix_program
from bench._soundness.inputs import Input, usual_input
from bench._soundness.program import Program

_MOST_TRIES = 40


def shrink(
    program: Program, fixed: FixedProgram, difference: Difference
) -> tuple[Program, str, Difference]:
    """Return a smaller program, its fixed text, and the difference that it still shows."""
    difference = _with_smaller_input(program, fixed, difference)
    tries = 0
    smaller = True
    while smaller and tries < _MOST_TRIES:
        smaller = False
        for text in _with_less(program.text):
            tries += 1
            if tries > _MOST_TRIES:
                break
            candidate = replace(program, text=text)
            found = _still_differs(candidate, difference)
            if found is not None:
                program, fixed, difference = candidate, *found
                smaller = True
                break
    return program, fixed.text, difference


def _still_differs(
    program: Program, difference: Difference
) -> tuple[FixedProgram, Difference] | None:
    with tempfile.TemporaryDirectory() as name:
        try:
            fixed = fix_program(program, Path(name))
        except Exception:
            # Without a statement it may no longer be a program that runs.
            return None
    if not fixed.used:
        return None
    problem = _problem(program.text, fixed, difference)
    return (fixed, replace(difference, problem=problem)) if problem else None


def _problem(text: str, fixed: FixedProgram, difference: Difference) -> str:
    if difference.mode == "eager":
        return eager_problem(text, fixed.text, difference.given)
    return compiled_problem(text, fixed, difference.given)


def _with_smaller_input(
    program: Program, fixed: FixedProgram, difference: Difference
) -> Difference:
    """Return the difference with an input that changes less, if it is still there."""
    for given in _simpler(program, difference.given):
        simpler = replace(difference, given=given)
        problem = _problem(program.text, fixed, simpler)
        if problem:
            return _with_smaller_input(program, fixed, replace(simpler, problem=problem))
    return difference


def _simpler(program: Program, given: Input) -> Iterator[Input]:
    usual = usual_input(program, given.seed)
    if given.modes:
        yield replace(given, modes=given.modes[1:])
    if given.before:
        yield replace(given, before=given.before[1:])
    if given.keywords:
        yield replace(given, keywords=frozenset())
    if given.protocol != "once":
        yield replace(given, protocol="once")
    if given.default_dtype != usual.default_dtype:
        yield replace(given, default_dtype=usual.default_dtype)
    for name, value in given.values.items():
        if name not in usual.values:
            rest = {each: source for each, source in given.values.items() if each != name}
            yield replace(given, values=rest, keywords=given.keywords - {name})
        elif value != usual.values[name]:
            yield replace(given, values={**given.values, name: usual.values[name]})


def _with_less(text: str) -> Iterator[str]:
    """Yield the text without one statement, or with the body of a block in its place."""
    tree = ast.parse(text)
    for body, place in _statements(tree):
        statement = body[place]
        if isinstance(statement, ast.Return):
            continue
        body[place : place + 1] = [] if len(body) > 1 else [ast.Pass()]
        yield ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        body[place : place + 1 if len(body) == 1 and isinstance(body[0], ast.Pass) else place] = [
            statement
        ]


def _statements(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], int]]:
    """Yield each list of statements with a place in it, larger statements first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "handlers"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                for place in range(len(body) - 1, -1, -1):
                    if getattr(body[place], "name", "") not in ("f", "inputs", "forward"):
                        yield body, place
