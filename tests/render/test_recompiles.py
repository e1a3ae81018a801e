"""Groups of recompiles in the text report."""

from __future__ import annotations

from typing import Any

from fullgraph.model.events import Frame
from fullgraph.model.report import CallCounts, RecompileGroup
from fullgraph.render._recompiles import GroupWriter
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


def lines_of(
    shown: RecompileGroup, *, width: int = 120, cut: bool = False, after: str = "it raises"
) -> list[str]:
    writer = GroupWriter(Terminal(width, cut=cut), lambda file, line: f"{file}:{line}")
    return list(writer.lines(shown, 1, after))


def test_a_group_says_what_changes_where_and_how_often() -> None:
    first, values = lines_of(group(notes=("dynamic=False",)))
    assert first == (
        " 1  x: size(0) changes, dynamic=False  Model.forward()  model.py:48  "
        "2 recompiles, 9.2 s compiling"
    )
    assert values == "    values  4 → 6 → 9"


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


def test_a_line_that_was_not_found_is_not_guessed() -> None:
    found = lines_of(group(kind="int", place="attribute", name="self.k", dim=None))
    assert found[0].startswith(" 1  self.k changes  ")
    assert "    written not found" in found


def test_the_limit_and_what_follows_from_it() -> None:
    lines = lines_of(
        group(refused=1, limit="recompile_limit", limit_value=3, calls=CallCounts(12, 4, 9)),
        width=200,
    )
    assert lines[0].endswith("9.2 s compiling, then recompile_limit (3) is reached, it raises")
    assert "    calls   4 of 12 calls ran in eager mode, the first was call 9" in lines


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
