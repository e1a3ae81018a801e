"""The line that last bound an argument of a compiled function, from the source of its callers."""

from __future__ import annotations

import ast

import pytest

from fullgraph.analysis.user_lines.arguments import Slot, slot_of
from fullgraph.analysis.user_lines.bound import BindingFinder
from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.model.events import Code, Frame
from tests.analysis.user_lines.running_programs import answers_of

FUNCTION = "def f(x, *rest, n=0, **options): report(x)\n"


def lines_of(program: str, slot: Slot | None = None) -> list[str | None]:
    return [answer.text for answer in answers_of(FUNCTION + program, slot)]


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("y = 1\ny = 2\nf(y)", "y = 2"),
        ("y = 1\ny += 1\nf(y)", "y += 1"),
        ("y: int = 1\nf(y)", "y: int = 1"),
        ("y = f(0) or 1\ny = f(y)", "y = f(0) or 1"),
        ("a, (b, *c) = 1, (2, 3)\nf(b)", "a, (b, *c) = 1, (2, 3)"),
        ("for y in [1]:\n    f(y)", "for y in [1]:"),
        ("for i, y in enumerate([1]):\n    f(y)", "for i, y in enumerate([1]):"),
        ("while (y := 1):\n    f(y)\n    break", "while (y := 1):"),
        ("f(y := 1)", "f(y := 1)"),
        ("with open('/dev/null') as y:\n    f(y)", "with open('/dev/null') as y:"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as y:\n    f(y)",
         "except ZeroDivisionError as y:"),
        ("import math\nf(math)", "import math"),
        ("y = 1\ndel y\ny = 2\nf(y)", "y = 2"),
        ("match [1, 2]:\n    case [y, _]:\n        f(y)", "case [y, _]:"),
        ("[f(y) for y in [1]]", "[f(y) for y in [1]]"),
        ("y = [1]\n[f(y) for _ in y]", "y = [1]"),
        ("y = [1]\nf([y for y in y])", None),
        ("y = 1\nlist(f(y) for _ in [1])", "y = 1"),
        ("def g():\n    f(y)\ny = 1\ng()", "y = 1"),
        ("def g():\n    f(y)\ny = 1\nz = 2\ng()\ny = 3", "y = 1"),
        ("async def g(): pass\ny = 1\nf(x=y)", "y = 1"),
        ("y = {'k': 1}\nf(**{'x': 1})", None),
        ("y = [1]\nf(*y)", "y = [1]"),
    ],
)  # fmt: skip
def test_the_last_binding_before_the_call(program: str, line: str | None) -> None:
    assert lines_of(program)[-1] == line


@pytest.mark.parametrize(
    "program",
    [
        "y = 1\nif f:\n    y = 2\nf(y)",
        "y = 1\nfor _ in [1, 2]:\n    f(y)\n    y = 2",
        "y = 1\ntry:\n    y = 2\n    1 / 0\nexcept ZeroDivisionError:\n    pass\nf(y)",
        "from contextlib import suppress\ny = 1\n"
        "with suppress(ZeroDivisionError):\n    1 / 0\n    y = 2\nf(y)",
        "y = 1\nf and (y := 2)\nf(y)",
        "def g():\n    global y\n    y = 2\ny = 1\nf(y)",
        "y = 1\nglobals()['y'] = 2\nf(y)",
        "def g():\n    y = 1\n    def h():\n        nonlocal y\n        y = 2\n    f(y)\ng()",
        "def g():\n    y = 1\n    z = (f(y) for _ in [1])\n    y = 2\n    list(z)\ng()",
        "from functools import partial\np = partial(f, 1)\ny = 2\np(y)",
        "y = [1]\nlist(map(f, y))",
    ],
)
def test_what_is_not_certain_is_not_answered(program: str) -> None:
    assert set(lines_of(program)) == {None}


def test_a_value_of_the_iteration_before_is_not_taken_for_one_of_this_iteration() -> None:
    program = "y = 1\nfor _ in [1, 2]:\n    y = 2\n    f(y)\n    y = 3"
    assert lines_of(program) == ["y = 2", "y = 2"]


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("x[:n]", "for n in [1]:"),
        ("x[:2]", None),
        ("max(n, 3)", "for n in [1]:"),
        ("[n, n]", "for n in [1]:"),
        ("3", None),
    ],
)
def test_of_an_expression_the_variable_that_the_loop_binds(argument: str, line: str | None) -> None:
    assert lines_of(f"x = [1, 2]\nfor n in [1]:\n    f({argument})") == [line]


@pytest.mark.parametrize("argument", ["b['k']", "b['k'][:1]", "b.keys()"])
def test_an_expression_that_starts_with_a_name(argument: str) -> None:
    assert lines_of(f"b = {{'k': [1]}}\nf({argument})") == ["b = {'k': [1]}"]


def test_an_item_that_is_stored_elsewhere_is_not_answered() -> None:
    assert lines_of("b = {'k': 1}\nb['k'] = 2\nf(b['k'])") == [None]


def test_a_parameter_is_followed_to_the_callers() -> None:
    program = """
def step(batch):
    f(batch)
def train(data):
    for each in data:
        step(each)
def again(data=3):
    step(data)
train([1])
step(7)
again()
again(data=4)
"""
    expected = ["for each in data:", "step(7)", "def again(data=3):", "again(data=4)"]
    assert lines_of(program) == expected


def test_arguments_that_a_wrapper_passes_on_are_followed() -> None:
    program = """
def wrapper(*args, **kwargs):
    return f(*args, **kwargs)
y = 1
wrapper(y)
z = 2
wrapper(x=z)
"""
    assert lines_of(program) == ["y = 1", "z = 2"]


def test_methods_do_not_count_the_object() -> None:
    program = """
class Model:
    def forward(self, x, n=1): report(x)
    def __call__(self, value): return self.forward(value)
    @staticmethod
    def plain(x): report(x)
model = Model()
y = 1
model(y)
Model.forward(model, y)
model.plain(y)
"""
    assert [answer.text for answer in answers_of(program)] == ["y = 1"] * 3


def test_a_decorated_method_is_called_with_the_object() -> None:
    """torch's `Module.__call__` passes the object, whatever function has replaced `forward`."""
    program = """\
def wrapper(self, *args, **kwargs): pass
batch = 1
mask = 2
model(batch, mask=mask)
"""
    file = SourceFile("program.py", program, ast.parse(program))
    frames = [
        Frame("program.py", 4, "<module>", code="model(batch, mask=mask)"),
        Frame("/lib/torch/nn/modules/module.py", 9, "_call_impl", code="return forward_call(*args"),
    ]
    code = Code("program.py", 1, "wrapper", "checked.<locals>.wrapper")

    def line(slot: Slot, callers: list[Frame]) -> str | None:
        finder = BindingFinder(callers, lambda path: file if path == file.path else None)
        found = finder.argument(code, slot)
        return None if found is None else found.code

    assert line(Slot("args", position=0), frames) == "batch = 1"
    assert line(Slot("kwargs", key="mask"), frames) == "mask = 2"
    assert line(Slot("args", position=0), frames[:1]) is None


def test_the_code_after_a_break_belongs_to_its_function() -> None:
    program = "def f(x):\n    print(x)\n    return x + 1\ndef g(x):\n    return x\n"
    file = SourceFile("program.py", program, ast.parse(program))
    found = file.function_of(Code("program.py", 2, "f", "f", resumed_at=2))
    assert found is not None
    assert found.lineno == 1
    assert file.function_of(Code("program.py", 2, "f", "f")) is None
    assert file.function_of(Code("program.py", 2, "g", "g", resumed_at=2)) is None


def test_starred_and_keyword_parameters_of_the_function() -> None:
    program = "a = 1\nb = 2\nf(0, a, mask=b)"
    assert lines_of(program, Slot("rest", position=0)) == ["a = 1"]
    assert lines_of(program, Slot("options", key="mask")) == ["b = 2"]
    assert lines_of(program, Slot("rest", position=1)) == [None]


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("y = {'k': 1}\nf(y)", "y = {'k': 1}"),
        ("y = {'k': 1}\nfor n in [2, 3]:\n    y['k'] = n\n    f(y)", "y['k'] = n"),
        ("y = {'k': 1}\ny['k'] = 2\nf(y)", "y['k'] = 2"),
        ("y = {'k': 1}\ny['other'] = 2\nf(y)", "y = {'k': 1}"),
        ("y = {'k': 1}\nf(y)\ny['k'] = 2", None),
        ("for n in [2, 3]:\n    y = {'k': n}\n    if n > 2:\n        y['k'] = 5\n    f(y)", None),
        ("y = {'k': 1}\ny['k'] = 2\ny['k'] = 3\nf(y)", None),
        ("y = {'k': 1}\ny.update(k=2)\nf(y)", None),
        ("y = {'k': 1}\nname = 'k'\ny[name] = 2\nf(y)", None),
    ],
)
def test_an_item_has_the_line_that_stored_it(program: str, line: str | None) -> None:
    assert lines_of(program, Slot("x", key="k"))[-1] == line


def test_dynamo_names_the_parameter_and_the_part_of_it() -> None:
    assert slot_of("L['x']") == Slot("x")
    assert slot_of("L['args'][0]") == Slot("args", position=0)
    assert slot_of("L['kwargs']['mask']") == Slot("kwargs", key="mask")
    assert slot_of("G['x']") is None
