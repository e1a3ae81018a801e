"""Dynamo's expressions in the names of the program, and the lines in torch's comments."""

from __future__ import annotations

import re
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.capture.guard_lines import line_of_guard, without_comment
from fullgraph.capture.guard_sources import FrameFacts, describe_source, position, readable


def forward(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return helper(x)


def helper(x: Any, strength: int = 1, *, bias: int = 2) -> Any:
    return x


def frame(code: CodeType = forward.__code__, **facts: Any) -> FrameFacts:
    values = {"helper": helper, "self": Path()}
    return FrameFacts(
        code, "train", evaluate=lambda source: eval(source, {"L": values, "G": values}), **facts
    )


@pytest.mark.parametrize(
    ("source", "place", "name"),
    [
        ("L['x']", "argument", "x"),
        ("L['x'].size()[0]", "argument", "x.size(0)"),
        ("L['x'].item()", "argument", "x"),
        ("L['args'][0]", "argument", "args[0]"),
        ("L['kwargs']['mask']", "argument", "mask"),
        ("___from_numpy(L['x'])", "argument", "x"),
        ("list(dict.keys(L['x']))[0]", "argument", "x"),
        ("L['self'].k", "attribute", "self.k"),
        ("L['self']._modules['encoder']._modules['0'].k", "attribute", "self.encoder[0].k"),
        ("L['self']._modules['a-b'].k", "attribute", "self['a-b'].k"),
        ("L['self']._modules['layers']._modules", "attribute", "self.layers"),
        ("L['self']._buffers['position']", "attribute", "self.position"),
        ("L['self']._parameters['weight']", "parameter", "self.weight"),
        ("L['self'].__dict__['k']", "attribute", "self.k"),
        ("L['self'].options['rate']", "attribute", "self.options['rate']"),
        ("G['RATE']", "global", "RATE"),
        ("G['CONFIG'].rate", "attribute", "CONFIG.rate"),
        ("G['__import_torch_dot_nn'].RATE", "global", "torch.nn.RATE"),
        ("G['helper'].__defaults__[0]", "default", "strength"),
        ("G['helper'].__kwdefaults__['bias']", "default", "bias"),
        ("___check_global_state()", "torch", "a value"),
    ],
)
def test_names_and_places(source: str, place: str, name: str) -> None:
    facts = describe_source(source, frame())
    assert (facts.place, facts.name) == (place, name)


def test_who_has_a_value() -> None:
    assert describe_source("L['self'].k", frame()).holder == type(Path()).__qualname__
    assert describe_source("G['RATE']", frame()).holder == "train"
    assert describe_source("G['__import_torch_dot_nn'].RATE", frame()).holder == "torch.nn"
    assert describe_source("G['helper'].__defaults__[0]", frame()).holder == "helper"


def test_closure_cells() -> None:
    number = 1

    def inner() -> int:
        return number

    facts = FrameFacts(inner.__code__, "train", evaluate={"L['f']": inner}.__getitem__)
    assert describe_source("L['number']", facts)[:2] == ("closure", "number")
    source = "L['f'].__closure__[0].cell_contents"
    assert describe_source(source, facts)[:2] == ("closure", "number")


def test_defaults_that_changed_are_no_arguments() -> None:
    facts = frame(changed_defaults=frozenset({"x"}))
    assert describe_source("L['x']", facts).place == "default"


def test_conditions_in_the_names_of_the_program() -> None:
    condition = "L['self']._modules['a'].k % 8 == L['x'].size()[1]"
    assert readable(condition, frame()) == "self.a.k % 8 == x.size(1)"


def test_arguments_come_in_the_order_of_the_function() -> None:
    sources = ["G['RATE']", "L['kwargs']['mask']", "L['x']", "L['self'].k"]
    ordered = sorted(sources, key=lambda source: position(source, frame()))
    assert ordered == ["L['self'].k", "L['x']", "L['kwargs']['mask']", "G['RATE']"]


@given(st.text(alphabet="LG[]'._()0ax \n#=<", max_size=40))
def test_any_text_has_a_name_without_internals(source: str) -> None:
    name = describe_source(source, frame()).name
    assert re.search(r"(?<!\w)___", name) is None
    assert isinstance(readable(source, frame()), str)


# Lines in torch's comments.

HERE = Path(__file__)


def test_the_line_of_a_guard_is_found_without_the_start_of_its_path() -> None:
    line = next(n for n, text in enumerate(HERE.read_text().splitlines(), 1) if "helper(x)" in text)
    part = f"L['n'] == 1      # return helper(x)  # {HERE.name}:{line} in forward (HINT: more)"
    found = line_of_guard(part, str(HERE))
    assert found is not None
    assert (found.file, found.line, found.function) == (str(HERE), line, "forward")
    assert found.code == "return helper(x)"


def test_a_line_of_a_resumed_function_has_the_name_of_the_function() -> None:
    part = f"L['n'] == 1  # f()  # {HERE.name}:1 in torch_dynamo_resume_in_forward_at_20"
    found = line_of_guard(part, str(HERE))
    assert found is not None
    assert found.function == "forward"


@pytest.mark.parametrize(
    "part",
    [
        "L['n'] == 1",
        "L['n'] == 1  # (unknown var s17, please file a bug)",
        "L['n'] == 1  # x  # no/such/file.py:3 in f",
    ],
)
def test_no_line_is_guessed(part: str) -> None:
    assert line_of_guard(part, "/home/model.py") is None


@pytest.mark.parametrize(
    ("part", "condition"),
    [
        ("L['n'] == 1      # return x  # m.py:1 in f", "L['n'] == 1"),
        ("L['s'] == 'a # b'  # return x  # m.py:1 in f", "L['s'] == 'a # b'"),
        ("___check_type_id(L['n'], 1), type=<class 'int'>  # x", None),
        ("L['n'] == 1", "L['n'] == 1"),
        ("", ""),
    ],
)
def test_conditions_end_where_the_comment_starts(part: str, condition: str | None) -> None:
    expected = part.split("  # ")[0] if condition is None else condition
    assert without_comment(part) == expected


@given(st.text(max_size=60), st.text(max_size=30))
def test_a_string_in_a_condition_is_kept_whatever_it_contains(text: str, comment: str) -> None:
    condition = f"L['s'] == {text!r}"
    assert without_comment(f"{condition}  # {comment}") == condition
