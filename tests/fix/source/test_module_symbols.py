"""Which names of a module are constants, bound once at its top level."""

from __future__ import annotations

import ast

import pytest

from fullgraph.fix.source.module_symbols import ModuleSymbols


@pytest.mark.parametrize(
    ("module", "constants"),
    [
        ("SIZE = 4\nSHAPE = (SIZE, 2)", {"SIZE"}),
        ("SIZE = 4\nSIZE = 5", set()),
        ("SIZE: int = 4", {"SIZE"}),
        ("SIZE, RATE = 4, 2\nNAME = 'x'", {"NAME"}),
        # Reading a name in order to write an item or an attribute does not bind it.
        ("SIZE = 4\nTABLE = {}\nTABLE[SIZE] = 1", {"SIZE"}),
        ("SIZE = 4\n(TABLE[SIZE], OTHER) = 1, 2", {"SIZE"}),
        ("SIZE = 4\nfor SIZE in range(3):\n    pass", set()),
        ("SIZE = 4\ndef grow():\n    global SIZE\n    SIZE += 1", set()),
        ("SIZES = [4]", set()),
    ],
)
def test_names_that_are_bound_once_to_an_immutable_value(module: str, constants: set[str]) -> None:
    assert ModuleSymbols(ast.parse(module)).constants == constants
