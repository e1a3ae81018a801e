"""What every remedy declares, and groups that get no advice."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies import all_remedies, propose_all
from fullgraph.recompiles.remedies.one_dtype import common_dtype
from fullgraph.recompiles.report import RemedyKind
from fullgraph.recompiles.size_guards import compares_size
from tests.recompiles.groups import group


def test_every_remedy_says_what_it_is_and_is_shown_in_a_line() -> None:
    for remedy in all_remedies():
        assert remedy.kind in get_args(RemedyKind), remedy.name
        assert remedy.about.strip(), remedy.name
        assert "\n" not in remedy.title, remedy.name


def test_unsafe_remedies_come_last_and_say_what_could_go_wrong() -> None:
    context = ProgramContext((), (), "")
    limited = group(place="attribute", kind="int", refused=1, limit="recompile_limit")
    kinds = [each.kind for each in propose_all(limited, context)]
    assert kinds.index("unsafe") > max(n for n, kind in enumerate(kinds) if kind != "unsafe")
    unsafe = [each for each in propose_all(limited, context) if each.kind == "unsafe"]
    assert all(each.risk and not each.can_be_replayed and not each.can_be_written
               for each in unsafe)  # fmt: skip


def test_recompiles_that_are_right_and_bounded_get_no_advice() -> None:
    assert propose_all(group(bounded=True), ProgramContext((), (), "")) == []


def test_a_dimension_is_named_for_environment_variables() -> None:
    candidates = propose_all(group(), ProgramContext((), (), ""))
    entries = [each.config for each in candidates if each.name == "dynamic_sources"]
    suffix = ":0" if has_feature("dynamic_sources:N") else ""
    assert entries == [{"torch.compiler.config.dynamic_sources": f"L['x']{suffix}"}]


@pytest.mark.parametrize(
    ("guard", "compares"),
    [
        ("2 <= L['x'].size()[0]", False),
        ("L['y'].size()[0] == L['x'].size()[0]", False),
        ("L['x'].stride()[0] == 32*L['x'].size()[2]", False),
        ("3 <= L['x'].size()[0]", True),
        ("L['x'].size()[0] == 7", True),
        ("L['x'].size()[0] != 7", True),
        ("(L['x'].size()[0] % 2) == 0", True),
    ],
)
def test_code_that_compares_a_size_may_specialize_another_one(guard: str, compares: bool) -> None:
    assert compares_size(guard) == compares


@pytest.mark.parametrize(
    ("seen", "dtype"),
    [
        ("bool int32", "int32"),
        ("bool uint8 int32 int64 float32", "int64"),
        ("float16 float32", "float32"),
        ("float32 int64", None),
        ("uint8 int8", None),
        ("complex64 float8_e5m2", None),
    ],
)
def test_an_argument_gets_a_dtype_that_includes_the_others(seen: str, dtype: str | None) -> None:
    assert common_dtype(seen.split()) == dtype


def test_the_documentation_lists_every_remedy() -> None:
    page = (Path(__file__).parents[2] / "docs" / "recompiles.md").read_text()
    for remedy in all_remedies():
        summary = remedy.about.partition("\n")[0]
        assert f"| `{remedy.name}` | {remedy.kind} | {summary} |" in page
