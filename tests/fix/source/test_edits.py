"""Edits change what they say and nothing else, and fixes of one file are independent."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.edits import (
    Edit,
    EditConflictError,
    EditedText,
    FileEdits,
    apply_edits,
    apply_edits_to_file,
    combine_edits,
    delete_statement,
    edited_lines,
    indent_under,
    insert_lines,
    replace_node,
)

# Characters that `str.splitlines` takes for the end of a line but Python does not, and characters
# that are longer in bytes than in columns.
odd = st.text(alphabet="ab é𝒳\x0c\x1c\u2028#", max_size=6)


def program(before: str, after: str) -> tuple[str, ast.Module]:
    source = f"def f(x):\n    a = '{before}', x.y(1, 2), '{after}'\n    return a  # {after}\n"
    return source, ast.parse(source)


@given(odd, odd)
def test_a_node_is_replaced_and_nothing_else(before: str, after: str) -> None:
    source, tree = program(before, after)
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert apply_edits(source, [replace_node(source, call, "z")]) == source.replace(
        "x.y(1, 2)", "z"
    )


@given(odd, odd)
def test_a_statement_is_deleted_or_indented(before: str, after: str) -> None:
    source, tree = program(before, after)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    first = function.body[0]
    deleted = apply_edits(source, [delete_statement(source, first)])
    assert ast.unparse(ast.parse(deleted)) == "def f(x):\n    return a"
    under = ast.parse(apply_edits(source, indent_under(source, [first], "if x:"))).body[0]
    assert isinstance(under, ast.FunctionDef)
    assert isinstance(under.body[0], ast.If)
    assert ast.dump(under.body[0].body[0]) == ast.dump(first)


def test_lines_inside_a_string_are_not_indented() -> None:
    source = 'def f(x):\n    print("""a\n  b\nc""")\n    return x\n'
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    under = apply_edits(source, indent_under(source, [function.body[0]], "if x:"))
    assert under == ('def f(x):\n    if x:\n        print("""a\n  b\nc""")\n    return x\n')


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> list[Edit]:
    """Up to four edits that do not overlap."""
    points = draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted))
    pairs = zip(points[::2], points[1::2], strict=False)
    kept = [Edit(a, b, draw(st.text("xy\n", max_size=3))) for a, b in pairs]
    inserted = draw(st.integers(0, len(text)))
    if all(not edit.start <= inserted <= edit.end for edit in kept):
        kept.append(Edit(inserted, inserted, draw(st.text("z\n", min_size=1, max_size=2))))
    return kept


@st.composite
def layered(draw: st.DrawFn) -> tuple[str, list[Edit], list[Edit]]:
    text = draw(st.text("abcdef\n", max_size=24))
    first = draw(edits_of(text))
    return text, first, draw(edits_of(apply_edits(text, first)))


@given(layered())
def test_edits_of_an_edited_text_become_edits_of_the_original(
    case: tuple[str, list[Edit], list[Edit]],
) -> None:
    text, first, second = case
    edited = EditedText(text, first)
    rebased, replaces = edited.rebase(second)
    changes = [
        FileEdits("f.py", tuple(first)),
        FileEdits("f.py", rebased, replaces=replaces),
    ]
    expected = apply_edits(apply_edits(text, first), second)
    assert apply_edits(text, combine_edits(changes)) == expected


@given(layered())
def test_a_fix_that_touches_nothing_of_another_can_stay_without_it(
    case: tuple[str, list[Edit], list[Edit]],
) -> None:
    text, first, second = case
    rebased, replaces = EditedText(text, first).rebase(second)
    alone = [FileEdits("f.py", rebased, replaces=replaces)]
    if replaces:
        with pytest.raises(EditConflictError):
            combine_edits(alone)
    else:
        apply_edits(text, combine_edits(alone))


@given(layered())
def test_lines_are_mapped_exactly(case: tuple[str, list[Edit], list[Edit]]) -> None:
    text, edits, _ = case
    # Each line of the original has a mark that no edit removes.
    marked = "".join(f"<{number}>{line}\n" for number, line in enumerate(text.split("\n"), 1))
    starts = [marked.index(f"<{n}>") for n in range(1, marked.count("<") + 1)]
    insertions = [Edit(starts[0], starts[0], e.replacement) for e in edits[:1]]
    edited = EditedText(marked, insertions)
    for number, line in enumerate(edited.text.split("\n"), 1):
        if "<" in line:
            assert edited.original_line(number) == int(line[line.index("<") + 1 : line.index(">")])


def test_the_same_inserted_line_counts_once() -> None:
    text = "import os\nx = 1\n"
    torch = insert_lines(text, 2, ["import torch"])
    one = FileEdits("f.py", (torch, Edit(14, 15, "2")))
    other = FileEdits("f.py", (torch, insert_lines(text, 3, ["y = 3"])))
    assert apply_edits(text, combine_edits([one, other])) == (
        "import os\nimport torch\nx = 2\ny = 3\n"
    )
    # Each of them works without the other.
    assert apply_edits(text, combine_edits([other])) == "import os\nimport torch\nx = 1\ny = 3\n"


def test_overlapping_edits_are_an_error() -> None:
    with pytest.raises(EditConflictError, match="same code"):
        apply_edits("abcdef", [Edit(0, 3, "x"), Edit(2, 4, "y")])


def test_changed_lines_are_those_that_are_removed_or_changed() -> None:
    text = "a\nb\nc\nd\n"
    assert edited_lines(text, [Edit(2, 4, "")]) == [2]
    assert edited_lines(text, [Edit(2, 5, "x")]) == [2, 3]
    assert edited_lines(text, [Edit(4, 4, "    ")]) == [3]
    assert edited_lines(text, [insert_lines(text, 3, ["import torch"])]) == []


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "é = 1", ""]), st.sampled_from(["\n", "\r\n"])), min_size=1
    ),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_lines_that_no_edit_touches_keep_their_ends(
    lines: list[tuple[str, str]], start: int, length: int
) -> None:
    raw = "".join(text + end for text, end in lines)
    text = raw.replace("\r\n", "\n")
    start = min(start, len(text))
    edit = Edit(start, min(start + length, len(text)), "new\nlines\n")
    written = apply_edits_to_file(raw, [edit])
    # It is the same edit, whatever the ends of the lines are.
    assert written.replace("\r\n", "\n") == apply_edits(text, [edit])
    before, after = text[: edit.start].count("\n"), text[edit.end :].count("\n")
    ends = [end for _, end in lines]
    found = re.findall("\r?\n", written)
    assert found[:before] == ends[:before]
    assert found[len(found) - after :] == ends[len(ends) - after :]
