"""The edits of remedies, on the text of a program."""

from __future__ import annotations

import ast

import pytest

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.edits import apply_edits
from fullgraph.model.events import Frame
from fullgraph.recompiles.source_changes import (
    PassedArgument,
    part_of_argument,
    statements_before,
    with_option,
)


def source_file(text: str) -> SourceFile:
    return SourceFile("/program.py", text, ast.parse(text))


def first_call(file: SourceFile, name: str) -> ast.Call:
    calls = [node for node in ast.walk(file.tree) if isinstance(node, ast.Call)]
    return next(call for call in calls if ast.unparse(call.func) == name)


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("torch.compile(f, dynamic=False)", None, "torch.compile(f)"),
        ("torch.compile(dynamic=False)", None, "torch.compile()"),
        ("torch.compile(dynamic=False, mode=m)", None, "torch.compile(mode=m)"),
        ("torch.compile(\n    f,\n    dynamic=False,\n)", None, "torch.compile(\n    f,\n)"),
        ("torch.compile(f, dynamic=False, m=1)", "True", "torch.compile(f, dynamic=True, m=1)"),
        ("torch.compile(f)", "True", "torch.compile(f, dynamic=True)"),
        ("torch.compile()", "True", "torch.compile(dynamic=True)"),
    ],
)  # fmt: skip
def test_an_option_is_dropped_replaced_or_added(before: str, value: str | None, after: str) -> None:
    file = source_file(before)
    (change,) = with_option([(file, first_call(file, "torch.compile"))], "dynamic", value)
    assert apply_edits(before, change.edits) == after


def test_a_bare_decorator_gets_an_option() -> None:
    text = "@torch.compile\ndef f(x): return x\n"
    file = source_file(text)
    function = file.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    (change,) = with_option([(file, function.decorator_list[0])], "dynamic", "True")
    assert apply_edits(text, change.edits).startswith("@torch.compile(dynamic=True)\n")


def test_options_behind_two_stars_are_left_alone() -> None:
    file = source_file("torch.compile(f, **options)")
    assert with_option([(file, first_call(file, "torch.compile"))], "dynamic", "True") == ()


def marked(text: str) -> str | None:
    """Return the text with the first argument of `f` marked; None if it is left alone."""
    file = source_file(text)
    call = first_call(file, "f")
    argument = PassedArgument(file, call, call.args[0], Frame("/program.py", 1, ""))
    changes = statements_before([(argument, lambda name: [f"mark({name})"])])
    return apply_edits(text, changes[0].edits) if changes else None


def test_a_name_is_marked_in_front_of_the_call() -> None:
    assert marked("if a:\n    y = f(x)\n") == "if a:\n    mark(x)\n    y = f(x)\n"
    assert marked("y = g(1, f(b.x))\n") == "mark(b.x)\ny = g(1, f(b.x))\n"


def test_an_expression_is_bound_to_a_name_first() -> None:
    expected = "compiled_input = make()\nmark(compiled_input)\ny = f(compiled_input)\n"
    assert marked("y = f(make())\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        # Something else would be computed later than before.
        "y = g() + f(make())\n",
        "y = f(make()) if a else b\n",
        "y = [f(x) for x in data]\n",
        "while f(x): pass\n",
        "a = 1; y = f(x)\n",
        "y = a and f(x)\n",
    ],
)
def test_a_call_that_may_not_run_or_not_first_is_left_alone(text: str) -> None:
    assert marked(text) is None


@pytest.mark.parametrize(
    ("signature", "source", "suffix"),
    [
        ("batch", "L['batch']['x']", "['x']"),
        ("x", "L['x']", ""),
        ("*args", "L['args'][0]", ""),
        ("*args", "L['args'][0].values", ".values"),
        ("**options", "L['options']['x'][1]", "[1]"),
    ],
)
def test_the_part_of_an_argument_follows_its_expression(
    signature: str, source: str, suffix: str
) -> None:
    function = ast.parse(f"def f({signature}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert part_of_argument(source, function) == suffix
