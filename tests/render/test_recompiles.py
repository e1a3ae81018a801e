"""Groups of recompiles in the text report."""

from __future__ import annotations

from typing import Any

import msgspec

from fullgraph.model.events import Code, Frame
from fullgraph.model.report import CallCounts, DynamicSizeFinding, Environment, RecompileGroup
from fullgraph.recompiles.report import (
    RECOMPILES_FORMAT,
    Counts,
    GroupAdvice,
    RecompilesReport,
    RecompilesSummary,
    Remedy,
    ReplayResult,
)
from fullgraph.render._recompiles import GroupWriter
from fullgraph.render.recompiles.text import render
from fullgraph.terminal import Terminal


def group(**fields: Any) -> RecompileGroup:
    facts: dict[str, Any] = {
        "kind": "size", "place": "argument", "source": "L['x']", "name": "x", "dim": 0,
        "values": ("4", "6", "9"), "function": "forward", "qualified": "Model.forward",
        "file": "model.py", "line": 48, "owner": "yours", "resumed_at": None,
        "compiles": ("0/1", "0/2"), "recompiles": 2, "refused": 0, "compile_seconds": 9.24,
        "limit": None, "limit_value": None, "called_at": None, "bound_at": None,
        "written_at": None, "specialized_at": None, "calls": None, "bounded": False, "notes": (),
    }  # fmt: skip
    return RecompileGroup(**{**facts, **fields})


def lines_of(shown: RecompileGroup, *, width: int = 120, cut: bool = False) -> list[str]:
    writer = GroupWriter(Terminal(width, cut=cut), lambda file, line: f"{file}:{line}")
    return list(writer.lines(shown, 1))


def test_a_group_says_what_changes_where_and_how_often() -> None:
    first, values = lines_of(group(notes=("dynamic=False",)))
    assert first == (
        " 1  x: size(0) changes, dynamic=False  Model.forward()  model.py:48  "
        "2 recompiles, 9.2 s compiling"
    )
    assert values == "    values  4 → 6 → 9"


def test_what_torch_wraps_is_named_instead_of_the_wrapper() -> None:
    wrapper = {"function": "inner", "qualified": "wrap_inline.<locals>.inner", "file": "utils.py"}
    linear = Code("linear.py", 130, "forward", "Linear.forward")
    first = lines_of(group(**wrapper, wrapped=(linear,)))[0]
    assert first == (
        " 1  x: size(0) changes  Linear.forward()  linear.py:130  2 recompiles, 9.2 s compiling"
    )


def test_several_strides_change() -> None:
    (first, *_) = lines_of(group(kind="stride", dim=None))
    assert first.startswith(" 1  x: strides change  ")
    (first, *_) = lines_of(group(kind="int", name="strides", dim=None))
    assert first.startswith(" 1  strides changes  ")


def test_the_users_lines_and_torchs_are_named_apart() -> None:
    frame = Frame("train.py", 60, "main", code="model(x)")
    lines = lines_of(
        group(
            called_at=frame,
            bound_at=Frame("train.py", 58, "main", code="x = next(it)"),
            specialized_at=Frame("model.py", 49, "forward", code="return x + 1"),
        )
    )
    assert lines[2:] == [
        "    called  train.py:60  model(x)",
        "    bound   train.py:58  x = next(it)",
        "    torch   model.py:49  return x + 1",
    ]


def test_other_calls_are_named_by_their_lines() -> None:
    calls = [Frame("train.py", line, "main", code="model(x)") for line in (60, 64)]
    elsewhere = Frame("eval.py", 7, "main", code="model(x)")
    lines = lines_of(group(called_at=calls[0], also_called_at=(calls[1], elsewhere)))
    assert lines[2:] == ["    called  train.py:60  model(x)", "            also :64, eval.py:7"]


def test_a_line_that_was_not_found_is_not_guessed() -> None:
    found = lines_of(group(kind="int", place="attribute", name="self.k", dim=None))
    assert found[0].startswith(" 1  self.k changes  ")
    assert "    written not found" in found


def test_the_limit_and_what_follows_from_it() -> None:
    lines = lines_of(
        group(refused=1, limit="recompile_limit", limit_value=3, calls=CallCounts(12, 4, 9)),
        width=200,
    )
    assert lines[0].endswith(
        "9.2 s compiling, then recompile_limit (3) is reached, new inputs run in eager mode"
    )
    assert "    calls   4 of 12 calls ran in eager mode, the first was call 9" in lines


def test_a_limit_that_raises_is_not_eager_mode() -> None:
    shown = group(
        refused=1, limit="recompile_limit", limit_value=8, limit_raises=True,
        calls=CallCounts(9, 0, None, raised=1, first_raised=9),
    )  # fmt: skip
    lines = lines_of(shown, width=200)
    assert lines[0].endswith("then recompile_limit (8) is reached, which raises an error")
    assert "    calls   1 of 9 calls raised an error, the first was call 9" in lines


def test_a_slower_call_says_so() -> None:
    same = Counts(8, 1)
    result = ReplayResult(same, Counts(0, 0), Counts(0, 0), same, 1.0, 0.5, 1.54, True)
    remedy = Remedy("dynamic_true", "source", "torch.compile(…, dynamic=True)", replay=result)
    environment = Environment("1", "2.13.0", "3.11", "linux", (), "/", 1, 0, {})
    summary = RecompilesSummary(2, 1, 0, 1, 0.5, None, None)
    advice = GroupAdvice(group(), (remedy,))
    report = RecompilesReport(RECOMPILES_FORMAT, environment, summary, (advice,))
    assert "1.5x slower per call, outputs equal" in render(report, width=200)


def test_sizes_that_a_line_specialized_are_listed_and_the_others_on_request() -> None:
    automatic = DynamicSizeFinding(
        "f",
        "f",
        "model.py",
        1,
        "yours",
        "L['x']",
        "x",
        0,
        "automatic",
        "0/1",
        5,
        4,
        (),
        None,
        "",
        "",
    )
    line = Frame("model.py", 6, "f", code="assert x.shape[1] == 4")
    marked = msgspec.structs.replace(
        automatic, dim=1, why="mark_dynamic", specialized_to=(4,), specialized_at=line,
        because="the line compares it with 4", advice="compare with <",
    )  # fmt: skip
    environment = Environment("1", "2.13.0", "3.11", "linux", (), "/", 1, 0, {})
    summary = RecompilesSummary(2, 1, 0, 1, 0.5, None, None)
    report = RecompilesReport(
        RECOMPILES_FORMAT, environment, summary, (GroupAdvice(group()),),
        dynamic_sizes=(automatic, marked),
    )  # fmt: skip
    text, everything = render(report, width=200), render(report, width=200, top=None)
    assert "specialized to 4 by model.py:6  assert x.shape[1] == 4" in text
    assert "compare with <" in text
    known = "x: size(0) dynamic since compile 0/1 (4 → 5), because it changed"
    assert known not in text
    assert known in everything


def test_recompiles_that_are_right_say_that_there_is_nothing_to_do() -> None:
    shown = group(kind="grad_mode", place="torch", name="grad mode", dim=None, bounded=True)
    lines = lines_of(shown)
    assert lines[0].startswith(" 1  grad mode changes  ")
    assert lines[-1] == "    do      nothing: these recompiles are right and bounded"


def test_a_resumed_function_and_one_inside_another() -> None:
    lines = lines_of(group(qualified="main.<locals>.step", resumed_at=50))
    assert "  step() after line 50  model.py:48" in lines[0]


def test_many_values_are_shortened_only_in_a_terminal() -> None:
    shown = group(values=tuple(map(str, range(100, 140))))
    assert "100 → 101 → 102 → 103 → 104 → 105 → … → 138 → 139" in lines_of(shown, cut=True)[1]
    text = " ".join(" ".join(lines_of(shown)).split())
    assert " → ".join(shown.values) in text


def test_narrow_terminals_get_lines_that_fit() -> None:
    shown = group(
        limit="recompile_limit", limit_value=8, notes=("after the limit, " * 8,),
        values=("torch.float32",) * 30,
    )  # fmt: skip
    lines = lines_of(shown, width=60)
    assert max(map(len, lines)) <= 60
