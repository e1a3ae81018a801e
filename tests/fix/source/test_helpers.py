"""Small functions that all fixers use: names, order of statements, new code, reasons."""

from __future__ import annotations

import ast
from typing import NoReturn

import pytest

from fullgraph.fix.source import codegen
from fullgraph.fix.source.control_flow import (
    always_bound,
    computed_by,
    inner_bodies,
    path_to,
)
from fullgraph.fix.source.declined import Declined, first_rewrite, quoted
from fullgraph.fix.source.edits import apply_edits
from fullgraph.fix.source.locate import body_around, class_at, function_at, parents_of, statement_of
from fullgraph.fix.source.module_symbols import ModuleSymbols
from fullgraph.fix.source.names import (
    all_in,
    arguments_of,
    bound_in,
    fresh_name,
    imports_of,
    is_false,
    is_name_chain,
    is_none,
    names_in,
    qualified_name,
    root_of,
    stored_names,
    targets_of,
)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def function(text: str) -> ast.FunctionDef:
    found = statement(text)
    assert isinstance(found, ast.FunctionDef)
    return found


# Names


@pytest.mark.parametrize(
    ("text", "root", "chain", "full"),
    [
        ("a", "a", True, "numpy"),
        ("b", "b", True, "b"),
        ("a.b.c", "a", True, "numpy.b.c"),
        ("a.b[0].c", "a", False, ""),
        ("a.b(1).c", "a", False, ""),
        ("(a + b).c", "", False, ""),
        ("'a'.join", "", False, ""),
    ],
)
def test_what_a_chain_of_names_starts_with(text: str, root: str, chain: bool, full: str) -> None:
    node = expression(text)
    assert (root_of(node), is_name_chain(node)) == (root, chain)
    assert qualified_name(node, {"a": "numpy"}) == full


def test_the_names_in_a_tree() -> None:
    node = expression("a.b + c[d](e=f)")
    assert names_in(node) == {"a", "c", "d", "f"}
    assert all_in(node, {"a", "c", "d", "f", "g"})
    assert not all_in(node, {"a", "c", "d"})
    assert not all_in(expression("1"), {"a"})
    assert stored_names(ast.parse("a = b\ndel c\nfor d in e: f.g = h[i] = 1")) == {"a", "c", "d"}
    assert [is_none(expression(text)) for text in ("None", "False", "0")] == [True, False, False]
    assert [is_false(expression(text)) for text in ("None", "False", "0")] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("a = b = c", ["a", "b"]),
        ("del a, b.c", ["a", "b.c"]),
        ("a: int = 1", ["a"]),
        ("for a in b: pass", ["a"]),
        ("a += 1", []),
        ("print(a)", []),
    ],
)
def test_the_targets_of_a_statement(text: str, targets: list[str]) -> None:
    assert list(map(ast.unparse, targets_of(statement(text)))) == targets


def test_the_names_that_a_function_binds() -> None:
    node = function(
        "@deco\ndef f(a, /, b=default, *c, d: note = 1, **e):\n"
        "    global g\n    g = h = 1\n    import i.j, k as l\n    from m import n\n"
        "    def o(p): q = 1\n    async def r(): pass\n    class S: pass\n"
        "    t = lambda u: v\n    with w as x: pass\n"
        "    try: pass\n    except E as y: pass\n"
        "    match z:\n        case [A, *B]: pass\n        case {**C}: pass\n"
        "        case D() as F: pass\n"
        "    (G := 1)\n    del H\n"
    )
    assert [each.arg for each in arguments_of(node)] == ["a", "b", "d", "c", "e"]
    assert bound_in(node) == {
        "h", "i", "l", "n", "o", "p", "q", "r", "S", "t", "u", "x", "y",
        "A", "B", "C", "F", "G", "H",
    }  # fmt: skip
    anonymous = expression("lambda a: (b := a)")
    assert isinstance(anonymous, ast.Lambda)
    assert bound_in(anonymous) == {"b"}


def test_a_new_name_is_used_by_nothing() -> None:
    tree = ast.parse("import a\nfrom m import b as c\ndef d(e): f = d_\n")
    names = ["a", "b", "c", "d", "e", "f", "g"]
    assert [fresh_name(name, tree) for name in names] == ["a_", "b", "c_", "d__", "e_", "f_", "g"]
    assert imports_of(tree) == {"a": "a", "c": "m.b"}


# Order of statements

NESTED = """\
def f(x):
    a = 1
    if x:
        b = 2
    else:
        for c in x:
            d = 3
    try:
        e = 4
    except E:
        g = 5
    finally:
        h = 6
    match x:
        case 1:
            i = 7
    def inner():
        j = 8
"""


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", [0]), ("b", [1, 0]), ("d", [1, 0, 0]), ("e", [2, 0]), ("g", [2, 0]), ("h", [2, 0]),
        ("i", [3, 0]), ("j", []),
    ],
)  # fmt: skip
def test_the_way_to_a_statement(name: str, path: list[int]) -> None:
    node = function(NESTED)
    wanted = next(
        each for each in ast.walk(node)
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name
    )  # fmt: skip
    assert [number for _, number in path_to(node, wanted)] == path
    assert wanted in body_around(node, wanted)
    assert statement_of(node, wanted.value) is wanted
    assert next(parents_of(node, wanted.value)) is wanted


def test_the_lists_of_statements_inside() -> None:
    counts = [len(list(inner_bodies(each))) for each in function(NESTED).body]
    assert counts == [0, 2, 3, 1, 0]
    assert body_around(function(NESTED), statement("a = 1")) == []


@pytest.mark.parametrize(
    ("text", "bound", "computed"),
    [
        ("a = b", {"a"}, ["b"]),
        ("a: int = b", {"a"}, ["b"]),
        ("a += b", {"a"}, ["b"]),
        ("f(a)", set(), ["f(a)"]),
        ("return a", set(), ["a"]),
        ("return", set(), []),
        ("if x:\n  a = b = 1\nelse:\n  a = c = 2", {"a"}, []),
        ("if x:\n  a = 1", set(), []),
        ("if x:\n  if y:\n    a = 1\n  else:\n    a = 2\nelse:\n  a = 3", {"a"}, []),
        ("with x as a:\n  b = 1", {"b"}, []),
        ("for a in x:\n  b = 1", set(), []),
        ("while x:\n  b = 1", set(), []),
        ("try:\n  b = 1\nexcept E:\n  b = 2", set(), []),
    ],
)
def test_what_a_statement_always_does(text: str, bound: set[str], computed: list[str]) -> None:
    node = statement(text)
    assert always_bound(node) == bound
    assert list(map(ast.unparse, computed_by(node))) == computed


def test_the_function_and_the_class_around_a_line() -> None:
    tree = ast.parse(
        "class A:\n  class B:\n    def f(self):\n      x = 1\n"
        "  async def g(self):\n    y = 1\n    def h():\n      z = 1\n"
    )

    def name(line: int) -> str | None:
        found = function_at(tree, line)
        return None if found is None else found.name

    assert [class_at(tree, line) for line in (1, 2, 4, 6, 9)] == ["A", "A.B", "A.B", "A", ""]
    assert [name(line) for line in (1, 3, 4, 5, 6, 8)] == [None, "f", "f", None, None, "h"]


def test_what_a_module_defines() -> None:
    symbols = ModuleSymbols(
        ast.parse(
            "import numpy as np\nONE = 1\nTWO = (1, -ONE_MORE)\nTHREE = 2 * 3, 'a'\n"
            "LIST = [1]\nAGAIN = 1\nAGAIN = 2\nA, B = 1, 2\nC: int = 4\nD: int\nE = F = 5\n"
            "G = 1\ndef f():\n    global G\n    local = 1\n"
            "for H in []: I = 1\nif ONE:\n    def g(): ...\n    class C1: ...\n"
            "class K:\n    L = 1\n    def m(self): ...\n    class N:\n        def o(self): ...\n"
            "try:\n    def p(): ...\nfinally: pass\n"
        )
    )
    assert set(symbols.bound_once) == {"ONE", "TWO", "THREE", "LIST", "C", "E", "F"}
    assert symbols.constants == {"ONE", "THREE", "C", "E", "F"}
    assert set(symbols.functions) == {"f", "g", "K.m", "K.N.o", "p"}
    assert symbols.classes == {"C1", "K", "K.N"}
    assert symbols.imports == {"np": "numpy"}


# New code


def test_a_call_is_on_several_lines_if_it_is_too_long() -> None:
    short = "y = torch.where(a, b, c)"
    assert codegen.where_lines("y = ", "a", "b", "c", len(short)) == [short]
    assert codegen.where_lines("y = ", "a", "b", "c", len(short) - 1) == [
        "y = torch.where(", "    a,", "    b,", "    c,", ")",
    ]  # fmt: skip
    assert codegen.indented(["a", "", "  b"]) == ["    a", "", "      b"]


def test_an_expression_is_written_on_one_line() -> None:
    text = "x = f(a,b)\ny = f(a,\n  b)\n"
    first, second = (each.value for each in ast.parse(text).body if isinstance(each, ast.Assign))
    assert codegen.one_line(text, first) == "f(a,b)"
    assert codegen.one_line(text, second) == "f(a, b)"
    assert codegen.one_line(text, codegen.new_expression("g( 1 )")) == "g(1)"


def test_a_choice_is_on_several_lines_if_it_is_too_long() -> None:
    text = "def f():\n    return old\n"
    old = expression("old")
    old.lineno, old.col_offset, old.end_lineno, old.end_col_offset = 2, 11, 2, 14
    room = 100 - len("    return ") - len(" if b else c")
    one = "a" * room
    assert codegen.conditional_expression(text, old, one, "b", "c") == f"{one} if b else c"
    assert codegen.conditional_expression(text, old, f"{one}a", "b", "c") == (
        f"(\n        {one}a\n        if b\n        else c\n    )"
    )
    assert codegen.conditional_expression(text, old, "f(\n1)", "b", "c").startswith("(\n        f(")
    returned = ast.parse(text).body[0].body[0]  # type: ignore[attr-defined]
    assert codegen.room_at(text, returned) == 96


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("if a:\n    b = 1\n    c = 2\nd\n", ["e = 3"], "e = 3\nd\n"),
        ("if a:  # why\n    b = 1  # how\nd\n", ["e = 3"], "# why\n# how\ne = 3\nd\n"),
        ("if a:  # why\n    b = 1\nd\n", ["e = 3  # why"], "e = 3  # why\nd\n"),
        ("if a:\n    b\nd\n", ["e", "", "f"], "e\n\nf\nd\n"),
    ],
)
def test_statements_are_replaced_and_their_comments_stay(
    text: str, new: list[str], expected: str
) -> None:
    first = ast.parse(text).body[:1]
    assert apply_edits(text, [codegen.replace_statements(text, first, new)]) == expected
    indented = "def f():\n" + "".join(f"    {line}\n" for line in text.splitlines())
    body = ast.parse(indented).body[0].body[:1]  # type: ignore[attr-defined]
    edited = apply_edits(indented, [codegen.replace_statements(indented, body, new)])
    assert edited == "def f():\n" + "".join(
        f"    {line}\n" if line else "\n" for line in expected.splitlines()
    )


def test_an_elif_becomes_an_else_and_a_shared_line_is_declined() -> None:
    text = "if a:\n    b\nelif c:\n    d\n"
    (inner,) = ast.parse(text).body[0].orelse  # type: ignore[attr-defined]
    assert apply_edits(text, [codegen.replace_statements(text, [inner], ["e", "f"])]) == (
        "if a:\n    b\nelse:\n    e\n    f\n"
    )
    text = "a = 1; b = 2\n"
    body = ast.parse(text).body
    with pytest.raises(Declined, match="another statement is on the same line"):
        codegen.replace_statements(text, body[:1], ["c"])
    text = "if a:\n  b\n  c\nd\n"
    assert codegen.statement_lines(text, ast.parse(text).body[:1]) == ["if a:", "  b", "  c"]
    inner_body = ast.parse("if a:\n  b\n  c\n").body[0].body  # type: ignore[attr-defined]
    assert codegen.statement_lines("if a:\n  b\n  c\n", inner_body) == ["b", "c"]


# Reasons


def test_code_in_a_reason_is_on_one_line_and_short() -> None:
    assert quoted(expression("f(a,\n b)")) == "`f(a, b)`"
    exactly = "a" * 60
    assert quoted(ast.Name(exactly)) == f"`{exactly}`"
    assert quoted(ast.Name(f"{exactly}b")) == f"`{'a' * 57}...`"
    assert Declined("why", expression("a")).line == 1
    assert Declined("why").line is None


def test_the_first_rewrite_that_applies_or_the_first_reason() -> None:
    def no() -> str | None:
        return None

    def yes() -> str | None:
        return "new"

    def first() -> NoReturn:
        raise Declined("first")

    def second() -> NoReturn:
        raise Declined("second")

    assert first_rewrite(no, no) is None
    assert first_rewrite(no, first, yes, second) == "new"
    with pytest.raises(Declined, match="first"):
        first_rewrite(no, first, second)
