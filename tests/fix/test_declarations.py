"""What fixers declare, read without importing them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from fullgraph.fix import declarations as module
from fullgraph.fix.declarations import declarations, serving_fixers
from fullgraph.fix.fixers import all_fixers
from fullgraph.fix.fixers._pages import SECTIONS, fixer_page, fixer_pages


def test_declarations_are_what_the_modules_say() -> None:
    read = [
        (each.name, each.title, each.kind, each.safety, each.ids, each.categories, each.about)
        for each in declarations()
    ]
    assert read == [
        (each.name, each.title, each.kind, each.safety, each.ids, each.categories, each.about)
        for each in all_fixers()
    ]


def test_fixers_that_list_the_id_come_alone() -> None:
    serving = serving_fixers("GB0124", "mutation")
    assert serving.by_id
    assert serving.names[0] == "capture_scalar_outputs"
    assert "buffer_reassignment" not in serving.names
    assert serving.claim == "fullgraph fix can do this"


def test_without_such_a_fixer_those_of_the_category_may_help() -> None:
    serving = serving_fixers("GB9999", "mutation")
    assert serving.names == ("buffer_reassignment",)
    assert serving.claim == "fullgraph fix can do this in some cases"
    assert serving_fixers("GB9999", "no-such-category").fixers == ()


UNTRACED = (
    "Attempted to call function marked as skipped\nDynamo does not know how to trace the builtin "
    "`{}.` This function is either a Python builtin (e.g. _warnings.warn) or a third-party C/C++ "
    "Python extension (perhaps created with pybind).\n{}"
)


@pytest.mark.parametrize(
    ("id_", "category", "text", "names"),
    [
        ("GB0007", "untraced-calls", UNTRACED.format("posix.stat", "os.path.exists(p)"), ()),
        ("GB0007", "side-effects", UNTRACED.format("time.time", "t = time.time()"), ()),
        ("GB0007", "side-effects", UNTRACED.format("_warnings.warn", "warnings.warn(s)"),
         ("logging_config", "skip_logging")),
        ("GB0007", "untraced-calls", UNTRACED.format("posix.cpu_count", "n = os.cpu_count()"),
         ("hoist_constant_calls",)),
        ("GB0219", "dynamo-bugs", "Backend compiler exception\nit raised\nreturn y * 2", ()),
        ("GB0059", "side-effects", "Failed to trace builtin operator\n`open`\nf = open(p)", ()),
        ("GB0059", "side-effects", "Failed to trace builtin operator\n`print`\nprint(x)",
         ("logging_config", "skip_logging")),
        ("GB0142", "context-managers", "Unsupported context manager\na `lock`\nwith lock:", ()),
    ],
)  # fmt: skip
def test_only_fixers_that_may_fit_the_break_are_offered(
    id_: str, category: str, text: str, names: tuple[str, ...]
) -> None:
    assert serving_fixers(id_, category, text).names == names


def test_what_a_fixer_is_offered_for_is_a_pattern() -> None:
    assert [each.name for each in declarations() if each.offered_for]
    for each in declarations():
        re.compile(each.offered_for)


def test_a_break_without_an_id_has_fixers_too() -> None:
    assert "value_guards" in serving_fixers(None, "other").names


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('IDS = ("GB0001",)\n', ("GB0001",)),
        ('IDS = (\n    "GB0001",  # why\n    "GB0002",\n)  # fmt: skip\n\nX = 1\n',
         ("GB0001", "GB0002")),
        ('_A = "GB0001"\nIDS = (_A,)\n', ("GB0001",)),
        ('_RULES: dict[str, int] = {\n    "GB0001": f,\n}\nIDS = tuple(_RULES)\n', ("GB0001",)),
        ("from fullgraph.fix.source.break_ids import (\n    NO_ID,\n    TENSOR_ITEM,\n)\n"
         "IDS = (TENSOR_ITEM,)\n", ("GB0124",)),
        ("TITLE = 'x'\n", ()),
    ],
)  # fmt: skip
def test_constants_are_read_in_every_form_that_fixers_use(
    source: str, value: tuple[str, ...]
) -> None:
    assert module._constant(f"\n{source}", "IDS", ()) == value


def test_a_computed_constant_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"declares compute\(\); use strings and tuples"):
        module._constant("\nIDS = compute()\n", "IDS", ())


def test_reading_imports_no_fixer() -> None:
    code = (
        "import sys\nfrom fullgraph.fix.declarations import declarations\n"
        "assert declarations()\n"
        "print([each for each in sys.modules if 'fixers' in each or each == 'torch'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_every_fixer_has_a_page_with_all_sections() -> None:
    pages = fixer_pages()
    assert [page.name for page in pages] == sorted(each.name for each in declarations())
    for page in pages:
        assert tuple(heading for heading, _ in page.sections) == SECTIONS, page.name
        assert page.summary.endswith("."), page.name
    assert fixer_page("no_such_fixer") is None


def test_fixers_of_a_category_are_not_offered_for_what_users_cannot_fix() -> None:
    """A backend that fails is Dynamo's own bug, like a few breaks that a fixer can avoid."""
    assert serving_fixers("GB0219", "dynamo-bugs").fixers
    assert not serving_fixers("GB0219", "dynamo-bugs", fixable=False).fixers
    # A fixer that lists the id knows better than the category.
    listed = serving_fixers("GB0124", "data-dependent", fixable=False)
    assert listed.by_id
    assert listed.fixers


def test_fixers_that_fit_the_code_come_first() -> None:
    serving = serving_fixers("GB0059", "untraced-calls")
    ordered = serving.with_first("Failed to trace builtin operator\nprint(x.max())")
    assert ordered.names[:2] == ("logging_config", "skip_logging")
    assert {*ordered.names} == {*serving.names}
