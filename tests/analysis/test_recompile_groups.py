"""Groups of recompiles: one program per kind of change, on real torch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fullgraph
from fullgraph.model.report import RecompileGroup, Report

SCALE = 3
CONFIG = SimpleNamespace(rate=1)


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def report_of(program: Callable[[], object]) -> Report:
    with fullgraph.watch() as session:
        program()
    report = session.report()
    assert not report.problems
    return report


def groups_of(program: Callable[[], object]) -> tuple[RecompileGroup, ...]:
    return report_of(program).recompile_groups


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, **{"backend": "eager", **options})


def line_of(text: str) -> int:
    """Return the first line of this file that contains `text`."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def plus_one(x: Tensor) -> Tensor:
    return x + 1


def scaled(x: Tensor, n: Any = 1) -> Tensor:
    return x + 1 if n is None else x * n


def added(x: Tensor, y: Tensor) -> Tensor:
    return x + y


class Model(nn.Module):
    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.k = 0
        self.inner = nn.ModuleList([nn.Dropout(0.5)])
        self.weight = nn.Parameter(torch.ones(size))
        self.options = {"rate": 1}
        self.parts = [1]

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner[0](x) * self.k * self.options["rate"] * len(self.parts)
        return x + self.weight.sum()


# One program per kind of change.


def sizes() -> None:
    function = compiled(plus_one, dynamic=False)
    for size in (4, 6, 9):
        function(torch.ones(2, size))


def strides() -> None:
    function = compiled(plus_one, dynamic=False)
    function(torch.ones(4, 3))
    function(torch.ones(3, 4).t())


def ranks() -> None:
    function = compiled(plus_one)
    function(torch.ones(4))
    function(torch.ones(4, 1))


def dtypes() -> None:
    function = compiled(plus_one)
    function(torch.ones(4))
    function(torch.ones(4, dtype=torch.float64))


def devices() -> None:
    function = compiled(plus_one)
    function(torch.ones(4))
    function(torch.ones(4, device="meta"))


def gradients() -> None:
    function = compiled(plus_one)
    function(torch.ones(4))
    function(torch.ones(4, requires_grad=True))


def new_aliases() -> None:
    function, x = compiled(added), torch.ones(4)
    function(x, torch.ones(4))
    function(x, x)


def lost_aliases() -> None:
    function, x = compiled(added), torch.ones(4)
    function(x, x)
    function(x, torch.ones(4))


def grad_mode() -> None:
    function, x, y = compiled(added), torch.ones(4), torch.ones(4)
    function(x, y)
    with torch.no_grad():
        function(x, y)


def inference_mode() -> None:
    function, x, y = compiled(added), torch.ones(4), torch.ones(4)
    with torch.no_grad():
        function(x, y)
    with torch.inference_mode():
        function(x, y)


def autocast() -> None:
    function, x, y = compiled(added), torch.ones(4), torch.ones(4)
    function(x, y)
    with torch.autocast("cpu"):
        function(x, y)


def numbers(*values: object) -> Callable[[], None]:
    def program() -> None:
        function = compiled(scaled, dynamic=False)
        for value in values:
            function(torch.ones(4), value)

    return program


def dynamic_numbers() -> None:
    function = compiled(scaled)
    for value in (1.5, 2.5, 3.5):
        function(torch.ones(4), value)


def equal_sizes() -> None:
    function = compiled(plus_one, dynamic=True)
    for size in (4, 5, 6):
        function(torch.ones(size, 4))


def strings() -> None:
    function = compiled(lambda x, mode: x + len(mode))
    for mode in ("sum", "mean"):
        function(torch.ones(4), mode)


def computed_strings() -> None:
    function = compiled(lambda x, mode: x + len(mode))
    for number in (11, 12):
        function(torch.ones(4), f"step {number}")


def tensor_index() -> None:
    function = compiled(lambda x, i: x[i])
    for index in (1, 2):
        function(torch.ones(4), torch.tensor(index))


def attribute() -> None:
    model = Model()
    function = compiled(model)
    for k in (0, 1):
        model.k = k
        function(torch.ones(4))


def attribute_in_a_dictionary() -> None:
    model = Model()
    function = compiled(model)
    for rate in (1, 2):
        model.options["rate"] = rate
        function(torch.ones(4))


def length_of_an_attribute() -> None:
    model = Model()
    function = compiled(model)
    function(torch.ones(4))
    model.parts.append(2)
    function(torch.ones(4))


def training() -> None:
    model = Model()
    function = compiled(model)
    function(torch.ones(4))
    model.eval()
    function(torch.ones(4))


def parameters() -> None:
    for size in (4, 5):
        compiled(Model(size))(torch.ones(1))


def global_number() -> None:
    global SCALE
    function = compiled(lambda x: x * SCALE)
    for number in (3, 4):
        SCALE = number
        function(torch.ones(4))


def attribute_of_a_global() -> None:
    function = compiled(lambda x: x * CONFIG.rate)
    for rate in (1, 2):
        CONFIG.rate = rate
        function(torch.ones(4))


def default_of_a_helper() -> None:
    def helper(x: Tensor, strength: int = 1) -> Tensor:
        return x * strength

    function = compiled(lambda x: helper(x), dynamic=False)
    for strength in (1, 2):
        helper.__defaults__ = (strength,)
        function(torch.ones(4))


def default_of_the_function() -> None:
    def blend(x: Tensor, strength: int = 1) -> Tensor:
        return x * strength

    function = compiled(blend, dynamic=False)
    for strength in (1, 2):
        blend.__defaults__ = (strength,)
        function(torch.ones(4))


def closure() -> None:
    number = 1
    function = compiled(lambda x: x * number, dynamic=False)
    function(torch.ones(4))
    number = 2
    function(torch.ones(4))


def length() -> None:
    function = compiled(lambda xs: sum(xs))
    for count in (1, 2):
        function([torch.ones(4) for _ in range(count)])


def keys() -> None:
    function = compiled(lambda d: [d[key] + 1 for key in d])
    for key in "ab":
        function({key: torch.ones(4)})


def keyword() -> None:
    function = compiled(lambda x, **options: x * options["rate"], dynamic=False)
    for rate in (1, 2):
        function(torch.ones(4), rate=rate)


def number_of_keys() -> None:
    function = compiled(lambda d: [d[key] + 1 for key in d])
    for names in ("a", "ab"):
        function({key: torch.ones(4) for key in names})


def class_per_call() -> None:
    def options() -> Any:
        class Options:
            rate = 1

        return Options()

    function = compiled(lambda x, o: x * o.rate)
    for _ in range(2):
        function(torch.ones(4), options())


def function_per_call() -> None:
    function = compiled(lambda x, f: f(x))
    function(torch.ones(4), lambda x: x + 1)
    function(torch.ones(4), lambda x: x + 2)


def backend_per_call() -> None:
    for _ in range(2):

        def backend(graph: Any, inputs: Any) -> Any:
            return graph.forward

        compiled(plus_one, backend=backend)(torch.ones(4))


def threads() -> None:
    function, before = compiled(plus_one), torch.get_num_threads()
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            function(torch.ones(4))
    finally:
        torch.set_num_threads(before)


def default_dtype() -> None:
    function, x = compiled(plus_one), torch.ones(4)
    try:
        function(x)
        torch.set_default_dtype(torch.float64)
        function(x)
    finally:
        torch.set_default_dtype(torch.float32)


def deterministic() -> None:
    function, x = compiled(plus_one), torch.ones(4)
    try:
        function(x)
        torch.use_deterministic_algorithms(True)
        function(x)
    finally:
        torch.use_deterministic_algorithms(False)


def zero_or_one() -> None:
    function = compiled(plus_one, dynamic=True)
    for size in (4, 1):
        function(torch.ones(size))


def specialized_mark() -> None:
    def function(x: Tensor) -> Tensor:
        return x + 1 if x.shape[0] == 4 else x + 2

    for size in (4, 6):
        x = torch.ones(size)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        compiled(function)(x)


def new_mark() -> None:
    function, x = compiled(plus_one), torch.ones(4)
    function(torch.ones(4))
    torch._dynamo.mark_dynamic(x, 0)
    function(x)


def result_at_a_break() -> None:
    def function(x: Tensor) -> Tensor:
        total = int(x.sum().numpy())
        return x * total

    for number in (2, 3):
        compiled(function, dynamic=False)(torch.full((4,), float(number)))


def unnamed_result_at_a_break() -> None:
    def function(x: Tensor) -> Tensor:
        return x * float(x.sum().numpy())

    for number in (2, 3):
        compiled(function, dynamic=False)(torch.full((4,), float(number)))


def local_below_a_break() -> None:
    def function(x: Tensor, n: int) -> Tensor:
        twice = n * 2
        torch._dynamo.graph_break()
        return x * twice

    for number in (2, 3):
        compiled(function, dynamic=False)(torch.ones(4), number)


def condition_on_a_number() -> None:
    function = compiled(lambda x, n: x + 1 if n > 4 else x, dynamic=True)
    for number in (3, 5):
        function(torch.ones(4), number)


def condition_on_a_size() -> None:
    function = compiled(lambda x: x + 1 if x.shape[0] != 8 else x, dynamic=True)
    for size in (4, 8):
        function(torch.ones(size))


def relation_of_a_size() -> None:
    function = compiled(lambda x: x + 1 if x.shape[0] % 4 == 0 else x, dynamic=True)
    for size in (8, 6):
        function(torch.ones(size))


def module_of_torch() -> None:
    function = compiled(nn.Linear(3, 2), dynamic=False)
    for size in (4, 6):
        function(torch.ones(size, 3))


CASES: list[tuple[Callable[[], None], tuple[object, ...]]] = [
    (sizes, ("size", "argument", "x", 1, "4", "6", "9")),
    (strides, ("stride", "argument", "x", None, "(3, 1)", "(1, 4)")),
    (ranks, ("rank", "argument", "x", None, "1", "2")),
    (dtypes, ("dtype", "argument", "x", None, "torch.float32", "torch.float64")),
    (devices, ("device", "argument", "x", None, "cpu", "meta")),
    (gradients, ("requires_grad", "argument", "x", None, "False", "True")),
    (new_aliases, ("aliasing", "argument", "x and y", None, "different tensors", "one tensor")),
    (lost_aliases, ("aliasing", "argument", "x and y", None, "one tensor", "different tensors")),
    (grad_mode, ("grad_mode", "torch", "grad mode", None, "True", "False")),
    (inference_mode, ("inference_mode", "torch", "inference mode", None, "False", "True")),
    (autocast, ("autocast", "torch", "autocast", None, "False", "True")),
    (numbers(1, 2, 3), ("int", "argument", "n", None, "1", "2", "3")),
    (numbers(0.5, 1.5), ("float", "argument", "n", None, "0.5", "1.5")),
    (numbers(True, False), ("bool", "argument", "n", None, "True", "False")),
    (numbers(None, torch.ones(4)), ("none", "argument", "n", None, "None", "a tensor")),
    (numbers(torch.ones(4), None), ("none", "argument", "n", None, "a tensor", "None")),
    (numbers(1, 0.5), ("type", "argument", "n", None, "1", "0.5")),
    (
        numbers(torch.ones(4), nn.Parameter(torch.ones(4), requires_grad=False)),
        ("type", "argument", "n", None, "Tensor", "Parameter"),
    ),
    (strings, ("str", "argument", "mode", None, "'sum'", "'mean'")),
    (tensor_index, ("int", "argument", "i", None, "1", "2")),
    (attribute, ("int", "attribute", "self.k", None, "0", "1")),
    (attribute_in_a_dictionary, ("int", "attribute", "self.options['rate']", None, "1", "2")),
    (length_of_an_attribute, ("length", "attribute", "self.parts", None, "1", "2")),
    (training, ("training", "attribute", "self.inner[0].training", None, "True", "False")),
    (parameters, ("size", "parameter", "self.weight", 0, "4", "5")),
    (global_number, ("int", "global", "SCALE", None, "3", "4")),
    (attribute_of_a_global, ("int", "attribute", "CONFIG.rate", None, "1", "2")),
    (default_of_a_helper, ("int", "default", "strength", None, "1", "2")),
    (default_of_the_function, ("int", "default", "strength", None, "1", "2")),
    (closure, ("int", "closure", "number", None, "1", "2")),
    (length, ("length", "argument", "xs", None, "1", "2")),
    (keys, ("keys", "argument", "d", None, "'a'", "'b'")),
    (number_of_keys, ("length", "argument", "d", None, "1", "2")),
    (keyword, ("int", "argument", "rate", None, "1", "2")),
    (class_per_call, ("type", "argument", "o", None, "Options", "another Options")),
    (function_per_call, ("identity", "argument", "f", None, "another function", "<lambda>()")),
    (backend_per_call, ("backend", "torch", "backend", None, "backend", "another backend")),
    (threads, ("num_threads", "torch", "number of threads", None, "1", "2")),
    (default_dtype, ("default_dtype", "torch", "default dtype", None,
                     "torch.float32", "torch.float64")),
    (deterministic, ("deterministic", "torch", "deterministic algorithms", None,
                     "False", "True")),
    (zero_or_one, ("size", "argument", "x", 0, "4", "1")),
    (specialized_mark, ("size", "argument", "x", 0, "4", "6")),
    (new_mark, ("marking", "argument", "x", None, "unmarked", "dynamic: 0")),
    (unnamed_result_at_a_break, ("float", "break", "float(x.sum().numpy())", None, "8.0", "12.0")),
    (condition_on_a_number, ("int", "argument", "n", None, "3", "5")),
    (condition_on_a_size, ("size", "argument", "x", 0, "4", "8")),
]  # fmt: skip


def case_name(value: object) -> str:
    return value.__name__ if callable(value) else ""


@pytest.mark.parametrize(("program", "expected"), CASES, ids=case_name)
def test_what_changes_and_its_values(
    program: Callable[[], None], expected: tuple[object, ...]
) -> None:
    (group,) = groups_of(program)
    assert (group.kind, group.place, group.name, group.dim, *group.values) == expected
    # Neither addresses nor names that only Dynamo knows.
    for text in (group.name, *group.values, *group.notes):
        assert not any(internal in text for internal in ("___", "L['", "G['", "0x", "_modules"))


@pytest.mark.parametrize(
    ("program", "bounded"),
    [
        (training, True), (grad_mode, True), (inference_mode, True), (autocast, True),
        (dtypes, True), (ranks, True), (gradients, True), (numbers(True, False), True),
        (numbers(None, torch.ones(4)), True), (default_dtype, True),
        (numbers(1, 2), False), (sizes, False), (attribute, False), (strings, True),
        (computed_strings, False),
        (class_per_call, False), (backend_per_call, False), (threads, False), (length, False),
    ],
    ids=case_name,
)  # fmt: skip
def test_only_settings_and_modes_are_bounded(program: Callable[[], None], bounded: bool) -> None:
    (group,) = groups_of(program)
    assert group.bounded is bounded


@pytest.mark.parametrize(
    ("program", "note"),
    [
        (sizes, "dynamic=False"),
        (zero_or_one, "0 and 1 are specialized even if a size is dynamic"),
        (specialized_mark, "marked dynamic, but specialized"),
        (tensor_index, "the value of a 0-d tensor"),
        (class_per_call, "the class is created again"),
        (backend_per_call, "the backend is created again"),
        (backend_per_call, "2 calls of torch.compile share this code and its limit"),
        (parameters, "2 objects share this code and its limit"),
        (numbers(1, 2), "only 2 values so far, but nothing limits them"),
        (numbers(1.5, 2.5), "dynamic=False"),
        (dynamic_numbers, "dynamic since compile 0/1: no other value compiled again"),
        (equal_sizes, "compiled for calls in which x.size(1) is x.size(0)"),
        (condition_on_a_number, "compiled for calls in which n is at most 4"),
        (condition_on_a_size, "compiled for calls in which x.size(0) is not 8"),
        (relation_of_a_size, "compiled for calls in which x.size(0) % 4 == 0"),
    ],
    ids=case_name,
)
def test_notes(program: Callable[[], None], note: str) -> None:
    (group,) = groups_of(program)
    assert note in group.notes


def test_a_module_of_torch_has_its_own_name() -> None:
    (group,) = groups_of(module_of_torch)
    assert group.function == "inner"
    assert [each.qualified for each in group.wrapped] == ["Linear.forward"]
    assert group.wrapped[0].file == inspect.getfile(nn.Linear)


class Scaled:
    def __init__(self) -> None:
        self.mode = "sum"

    def __call__(self, x: Tensor) -> Tensor:
        return x.sum() if self.mode == "sum" else x.mean()


def test_an_object_that_can_be_called_has_its_own_names() -> None:
    scaled = Scaled()
    function = compiled(scaled)

    def program() -> None:
        for scaled.mode in ("sum", "mean"):
            function(torch.ones(3))

    (group,) = groups_of(program)
    assert [each.qualified for each in group.wrapped] == ["Scaled.__call__"]
    assert (group.name, group.values) == ("self.mode", ("'sum'", "'mean'"))


def test_only_strings_need_the_whole_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("fullgraph.analysis.user_lines.find_program_files", fail)
    (group,) = groups_of(ranks)
    assert group.bounded


def test_values_at_a_break_have_the_names_of_the_program() -> None:
    names = {(group.name, group.resumed_at is None) for group in groups_of(local_below_a_break)}
    assert names == {("n", True), ("twice", False)}
    (group,) = [group for group in groups_of(result_at_a_break) if group.kind == "int"]
    assert (group.name, group.place) == ("total", "break")


def test_an_argument_is_still_one_below_a_break() -> None:
    def function(x: Tensor, n: int) -> Tensor:
        torch._dynamo.graph_break()
        return x * n

    def program() -> None:
        for number in (2, 3):
            compiled(function, dynamic=False)(torch.ones(4), number)

    (group,) = groups_of(program)
    assert (group.name, group.place) == ("n", "argument")
    assert group.resumed_at is not None


def test_tied_sizes_are_one_group() -> None:
    def program() -> None:
        function = compiled(added, dynamic=False)
        for size in (4, 6, 9):
            function(torch.ones(size), torch.ones(size))

    (group,) = groups_of(program)
    assert (group.name, group.recompiles) == ("x", 2)
    assert "y: size(0) changes together with it" in group.notes


def test_a_change_that_explains_more_recompiles_is_the_reason() -> None:
    def program() -> None:
        model = Model()
        function = compiled(model)
        for k, size in enumerate((4, 6, 6, 6)):
            model.k = k
            function(torch.ones(size, 1))

    (group,) = groups_of(program)
    assert (group.name, group.values) == ("self.k", ("0", "1", "2", "3"))
    assert "x: size(0) changes together with it" in group.notes


def test_code_for_the_same_keys_tells_what_changed() -> None:
    """Three sizes are nearer than one key: code without the key is for other inputs."""

    def scores(batch: dict[str, Tensor]) -> Tensor:
        found = batch["ids"] * batch["w"]
        return found * batch["mask"] if "mask" in batch else found

    def program() -> None:
        function = compiled(scores)
        for size, names in ((4, "ids w"), (6, "ids w"), (7, "ids w mask"), (9, "ids w mask")):
            function({name: torch.ones(size) for name in names.split()})

    groups = {group.kind: group for group in groups_of(program)}
    assert groups["keys"].values == ("without 'mask'", "'ids', 'w', 'mask'")
    assert groups["size"].values == ("4", "6", "9")


def test_a_tensor_that_was_not_marked_was_not_specialized_although_marked() -> None:
    def program() -> None:
        function = compiled(plus_one)
        function(torch.ones(4))
        marked = torch.ones(5)
        torch._dynamo.mark_dynamic(marked, 0)
        function(marked)

    (group,) = groups_of(program)
    assert "x: marked dimensions change together with it" in group.notes
    assert "marked dynamic, but specialized" not in group.notes


def test_code_for_as_many_keys_tells_that_the_keys_changed() -> None:
    def program() -> None:
        function = compiled(lambda d: [d[key] + 1 for key in d])
        for names in ("a", "ab", "c", "bc"):
            function({key: torch.ones(4) for key in names})

    groups = {group.kind: group for group in groups_of(program)}
    assert groups["length"].values == ("1", "2")
    assert groups["keys"].recompiles == 2


def test_each_reason_of_a_function_is_a_group_of_its_own() -> None:
    def program() -> None:
        model = Model()
        function = compiled(model)
        function(torch.ones(4))
        model.k = 1
        function(torch.ones(4))
        model.eval()
        function(torch.ones(4))

    groups = groups_of(program)
    assert {(group.name, group.recompiles) for group in groups} == {
        ("self.k", 1),
        ("self.inner[0].training", 1),
    }


def test_all_calls_of_a_group_are_named() -> None:
    def program() -> None:
        function = compiled(plus_one, dynamic=False)
        function(torch.ones(2))
        function(torch.ones(3))  # first call
        function(torch.ones(4))  # second call

    (group,) = groups_of(program)
    assert group.called_at is not None
    assert group.called_at.line == line_of("# first call")
    assert [frame.line for frame in group.also_called_at] == [line_of("# second call")]


def test_the_line_that_specializes_a_marked_size_is_named() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 2
        return y + 1 if x.shape[0] == 4 else y  # specializes

    def program() -> None:
        for size in (4, 6):
            x = torch.ones(size)
            torch._dynamo.maybe_mark_dynamic(x, 0)
            compiled(function)(x)

    (group,) = groups_of(program)
    assert group.specialized_at is not None
    assert group.specialized_at.line == line_of("# specializes")
    assert any(
        note.startswith("the line compares it with 4: compare with <") for note in group.notes
    )


@pytest.mark.parametrize(
    ("program", "expected"), [(attribute, True), (parameters, True), (attribute_of_a_global, False)]
)
def test_values_of_modules_are_known(program: Callable[[], None], expected: bool) -> None:
    (found,) = report_of(program).recompiles
    assert {change.in_module for change in found.failures[0].changes} == {expected}


def test_the_limit_and_the_lines_of_a_group() -> None:
    def program() -> None:
        function = compiled(plus_one, dynamic=False)
        for size in (4, 6, 9, 11):
            x = torch.ones(size)  # bound here
            function(x)  # called here

    with torch._dynamo.config.patch(recompile_limit=2):
        report = report_of(program)
    (group,) = report.recompile_groups
    assert (group.recompiles, group.refused, group.limit, group.limit_value) == (
        1, 1, "recompile_limit", 2,
    )  # fmt: skip
    assert (report.summary.compiles, report.summary.recompiles, report.summary.refused) == (2, 1, 1)
    assert len(group.compiles) == 1
    assert group.compile_seconds > 0
    assert group.values == ("4", "6", "9")
    assert not group.bounded
    assert group.called_at is not None
    assert group.called_at.line == line_of("# called here")
    assert group.bound_at is not None
    assert group.bound_at.line == line_of("# bound here")
    assert group.specialized_at is not None
    assert group.specialized_at.code == "return x + 1"
