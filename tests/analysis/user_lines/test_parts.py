"""What single steps towards a user's line take from the source: arguments, names, calls, files."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from fullgraph.analysis.user_lines.arguments import Slot, arguments_for
from fullgraph.analysis.user_lines.bindings import (
    bindings_in,
    bound_names,
    own_nodes,
    parameters_of,
)
from fullgraph.analysis.user_lines.bound import UnclearName
from fullgraph.analysis.user_lines.observed import (
    GroupMember,
    is_bound,
    is_written,
    watch_of_binding,
    watch_of_write,
)
from fullgraph.analysis.user_lines.program_files import find_program_files
from fullgraph.analysis.user_lines.source_file import (
    SourceFile,
    comprehension_binding,
    is_deferred,
    open_source,
)
from fullgraph.analysis.user_lines.written import attribute_of, is_about_contents
from fullgraph.model.events import (
    Call,
    ChangeKind,
    ChangePlace,
    Code,
    Frame,
    GuardChange,
    Recompile,
)
from fullgraph.model.owners import Folders, Owners
from fullgraph.model.watches import Watch


def file_of(text: str) -> SourceFile:
    return SourceFile("program.py", text, ast.parse(text))


def function_of(text: str) -> ast.FunctionDef:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


# Arguments


@pytest.mark.parametrize(
    ("signature", "call", "slot", "expected"),
    [
        ("x, y", "f(1, 2)", Slot("y"), ["2"]),
        ("x, y", "f(1, y=2)", Slot("y"), ["2"]),
        ("x, y", "f(1)", Slot("y"), []),
        ("x, y", "f(1, 2, 3)", Slot("y"), []),
        ("x, y=5", "f(1)", Slot("y"), ["5 by default"]),
        ("x, y=5", "f(1, 2)", Slot("y"), ["2"]),
        ("x, *, y=5", "f(1)", Slot("y"), ["5 by default"]),
        ("x, *, y", "f(1)", Slot("y"), []),
        ("x, *, y", "f(1, 2)", Slot("x"), []),
        ("x, /, y", "f(x=1, y=2)", Slot("y"), []),
        ("x, /, y, **more", "f(1, x=3, y=2)", Slot("more", key="x"), ["3"]),
        ("x", "f(1, z=2)", Slot("x"), []),
        ("x, *rest", "f(1, 2, 3)", Slot("rest", 1), ["3"]),
        ("x, *rest", "f(1, 2, 3)", Slot("rest", 2), []),
        ("x, *rest", "f(1, 2)", Slot("rest"), []),
        ("x, *rest", "f(1, *a)", Slot("rest", 2), ["a[2]"]),
        ("x, *rest", "f(*a)", Slot("x"), ["a[0]"]),
        ("x, *rest", "f(*a)", Slot("rest", 0), ["a[1]"]),
        ("x, y", "f(*a, 1)", Slot("y"), []),
        ("x, y=5", "f(*a)", Slot("y"), ["a[1]", "5 by default"]),
        ("x, y", "f(*a, **b)", Slot("y"), ["a[1]", "b['y']"]),
        ("x, y=5", "f(**b)", Slot("y"), ["b['y']", "5 by default"]),
        ("x, y", "f(1, **b)", Slot("y"), ["b['y']"]),
        ("x, y", "f(1, **b, **c)", Slot("y"), []),
        ("x, y", "f(**b, y=1)", Slot("y"), ["1"]),
        ("**more", "f(**b)", Slot("more", key="k"), ["b['k']"]),
        ("**more", "f(k=1)", Slot("more", key="k"), ["1"]),
        ("**more", "f(k=1)", Slot("more"), []),
    ],
)
def test_what_a_call_passes_for_a_parameter(
    signature: str, call: str, slot: Slot, expected: list[str]
) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    found = []
    for each in arguments_for(node, function_of(f"def f({signature}): ..."), slot, False):
        part = each.slot
        unpacked = (
            "" if part is None else f"[{part.position if part.key is None else repr(part.key)}]"
        )
        found.append(f"{ast.unparse(each.value)}{unpacked}{' by default' * each.is_default}")
    assert found == expected


def test_the_object_of_a_method_is_no_argument_of_the_call() -> None:
    call = ast.parse("m(1, 2)", mode="eval").body
    assert isinstance(call, ast.Call)
    function = function_of("def f(self, x, y): ...")
    (found,) = arguments_for(call, function, Slot("y"), True)
    assert ast.unparse(found.value) == "2"
    assert arguments_for(call, function, Slot("y"), False) == []


# Names that are bound


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("a = b = 1", {"a", "b"}),
        ("a, (b, [*c]) = x", {"a", "b", "c"}),
        ("a.b = c[d] = 1", set()),
        ("a += 1", {"a"}),
        ("a: int = 1", {"a"}),
        ("a: int", set()),
        ("for a, b in x: pass", {"a", "b"}),
        ("import a.b, c as d", {"a", "d"}),
        ("from a import b as c, d", {"c", "d"}),
        ("from a import *", {"*"}),
        ("def a(b): pass", {"a"}),
        ("async def a(b): pass", {"a"}),
        ("class a(b): pass", {"a"}),
        ("print(a)", set()),
        ("del a", set()),
    ],
)
def test_the_names_that_a_statement_binds(statement: str, names: set[str]) -> None:
    assert bound_names(ast.parse(statement).body[0]) == names


def test_the_names_that_parts_of_statements_bind() -> None:
    text = (
        "with a as (b, c), d: pass\ntry: pass\nexcept E as f: pass\n(g := 1)\n"
        "match x:\n  case [h, *i]: pass\n  case {'k': _, **j}: pass\n  case C() as k: pass\n"
    )
    found = {name for node in ast.walk(ast.parse(text)) for name in bound_names(node)}
    assert found == set("bcfghijk")


def test_what_runs_in_a_scope_itself() -> None:
    function = function_of(
        "def f(a, /, b, *c, d, **e):\n"
        "    @deco\n    def g(h=default, *, i=keyword): inner\n"
        "    @other\n    class C(base):\n        body\n"
        "    j = lambda k=late: inside\n"
        "    return [m for m in items]\n"
    )
    names = {node.id for node in own_nodes(function) if isinstance(node, ast.Name)}
    assert names == {"deco", "default", "keyword", "other", "base", "j", "late", "m", "items"}
    assert [each.arg for each in parameters_of(function)] == ["a", "b", "d", "c", "e"]
    assert parameters_of(ast.parse("x = 1")) == []
    assert [type(each) for each in bindings_in(function, "b")] == [ast.arg]
    assert [type(each) for each in bindings_in(function, "g")] == [ast.FunctionDef]
    # Any name may come from the module.
    star = ast.parse("from m import *\nx = 1")
    assert len(bindings_in(star, "x")) == 2
    assert len(bindings_in(star, "y")) == 1


# Source files

TEXT = """\
@compiled
def f(x):
    return g(x, h(
        1)) + g(2)
é = f('é'), f(3)
class C:
    y = 1
    def f(self, z=y): return lambda: [n for n in self.items if n]
"""


def test_a_frame_finds_its_call() -> None:
    file = file_of(TEXT)

    def call(*place: int | None) -> str | None:
        line, column, end_line, end_column = place
        assert line is not None
        found = file.call_at(Frame("program.py", line, "", column, end_line, end_column))
        return None if found is None else ast.unparse(found)

    assert call(3, 12, 4, 12) == "g(x, h(1))"
    assert call(3, 17, 4, 11) == "h(1)"
    assert call(4, 15, None, 19) == "g(2)"
    assert call(4, 15, None, 18) is None
    # Columns count characters, and those of a syntax tree count bytes.
    assert call(5, 5, None, 11) == "f('é')"
    assert call(5, 13, None, 17) == "f(3)"
    assert call(5, None, None, None) is None
    assert call(1, None, None, None) is None
    single = file_of("x = f(\n  1)\n")
    for line in (1, 2):
        found = single.call_at(Frame("program.py", line, ""))
        assert found is not None


def test_a_compiled_function_is_found_by_its_name_and_line() -> None:
    file = file_of(TEXT)

    def line(first: int, name: str, resumed_at: int | None = None) -> int | None:
        found = file.function_of(Code("program.py", first, name, resumed_at=resumed_at))
        return None if found is None else found.lineno

    # Python 3.8 and later count a decorator's line as the first; both are accepted.
    assert [line(1, "f"), line(2, "f"), line(3, "f"), line(8, "f")] == [2, 2, None, 8]
    assert [line(8, "<lambda>"), line(8, "g")] == [8, None]
    assert [line(3, "f", 4), line(9, "f", 1), line(9, "f", 5)] == [2, 2, None]


def test_the_scope_of_a_node_is_the_function_whose_names_it_uses() -> None:
    file = file_of(TEXT)

    def scope(text: str, number: int = 0) -> str | None:
        nodes = [node for node in file.nodes if isinstance(node, ast.expr)]
        node = [each for each in nodes if ast.unparse(each) == text][number]
        found = file.scope_of(node)
        return None if found is None else file.frame(node).function

    assert scope("compiled") == "<module>"
    assert scope("h(1)") == "f"
    assert [scope("1"), scope("1", 1)] == [None, "f"]
    assert scope("n") == "<lambda>"
    assert scope("self.items") == "<lambda>"
    lambda_ = next(node for node in file.nodes if isinstance(node, ast.Lambda))
    assert [type(each) for each in file.enclosing(lambda_)] == [ast.FunctionDef, ast.Module]


def test_the_place_of_a_node_has_its_line_and_column_in_characters() -> None:
    file = file_of(TEXT + "with open(f) as e: pass\nwith f: pass\n")
    three = next(node for node in file.nodes if isinstance(node, ast.Constant) and node.value == 3)
    assert file.frame(three) == Frame("program.py", 5, "<module>", 15, code="é = f('é'), f(3)")
    items = [node for node in file.nodes if isinstance(node, ast.withitem)]
    assert [file.frame(each).column for each in items] == [17, 6]
    assert file.frame(ast.Pass()).line == 1


def test_a_line_that_changed_since_is_no_match() -> None:
    file = file_of(TEXT)
    lines = [Frame("program.py", 2, "", code=code) for code in ("", "def f(x):", "def f(y):")]
    assert [file.matches(each) for each in lines] == [True, True, False]
    assert not file.matches(Frame("program.py", 99, ""))


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("[f(y) for y in items]", True),
        ("{f(y): 1 for x in items for y in x}", True),
        ("[1 for x in f(y)]", False),
        ("[1 for y in f(y)]", False),
        ("[1 for y in items for z in f(y)]", True),
        ("[1 for y in items if f(y)]", True),
        ("[f(y) for y, y in items]", False),
        ("[lambda: f(y) for y in items]", False),
        ("[[f(y) for x in a] for y in b]", True),
        ("[f(y) for x in items]", False),
    ],
)
def test_a_comprehension_binds_its_targets_for_what_runs_in_it(text: str, binds: bool) -> None:
    file = file_of(text)
    call = next(
        node for node in file.nodes if ast.unparse(node) == "f(y)" and node is not file.tree.body[0]
    )
    found = comprehension_binding(file, "y", call)
    assert (found is not None) is binds
    assert found is None or ast.unparse(found) == "y"


def test_what_a_generator_runs_runs_later() -> None:
    file = file_of("a = (f(x) for x in y)\nb = [g(x) for x in y]")
    calls = [node for node in file.nodes if isinstance(node, ast.Call)]
    assert [is_deferred(file, each, file.tree) for each in calls] == [True, False]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("exec(x)", True),
        ("m.__dict__", True),
        ("locals()", True),
        ("m.eval()", False),
        ("x", False),
    ],
)
def test_code_that_can_bind_any_name_is_known(text: str, hidden: bool) -> None:
    assert file_of(text).has_hidden_writes is hidden


def test_a_file_that_was_changed_after_the_start_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("x = 1\n")
    os.utime(path, (100, 100))
    opened = open_source(str(path), 100.0)
    assert opened is not None
    assert opened.text == "x = 1\n"
    assert open_source(str(path), 99.0) is None
    assert open_source(str(path), 0.0) is not None
    assert open_source(str(tmp_path / "no.py"), 100.0) is None
    assert open_source(str(tmp_path / "no.py"), 0.0) is None
    path.write_text("x = (\n")
    assert open_source(str(path), 0.0) is None


# Files of a program


def test_the_files_of_a_program_are_those_that_it_imports(tmp_path: Path) -> None:
    texts = {
        "main.py": "import tools.a, json, torch\nfrom package import part, missing\nimport no",
        "tools/a.py": "", "tools/unused.py": "", "package/__init__.py": "from .sub import x",
        "package/part.py": "from . import sibling\nfrom .. import outside",
        "package/sibling.py": "",
        "package/sub/__init__.py": "from ...up import y", "package/sub/x.py": "", "up.py": "",
        "outside.py": "", "site-packages/torch/__init__.py": "import tools.unused",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    packages = str(tmp_path / "site-packages")
    owners = Owners([Folders(str(tmp_path), f"{packages}/torch", (), (packages,))])

    def names(*seen: str, folders: tuple[str, ...] = ()) -> list[str]:
        paths = [*(str(tmp_path / name) for name in seen), "<string>"]
        found = find_program_files(paths, folders, owners, lambda path: open_source(path, 0.0))
        assert found.complete
        return sorted(os.path.relpath(file.path, tmp_path) for file in found.files)

    used = {"main.py", "tools/a.py", "package/__init__.py", "package/part.py", "package/sibling.py",
            "package/sub/__init__.py", "package/sub/x.py", "up.py", "outside.py"}  # fmt: skip
    assert names("main.py") == sorted(used)
    assert names("main.py", "site-packages/torch/__init__.py") == sorted(used)
    assert names("tools/a.py") == ["tools/a.py"]
    found = find_program_files(
        [str(tmp_path / "main.py"), str(tmp_path / "gone.py")], [], owners,
        lambda path: open_source(path, 0.0),
    )  # fmt: skip
    assert not found.complete
    assert len(found.files) == len(used)


# What a run in eager mode watches

MODEL = Code("/home/model.py", 3, "forward")
CALL = Call(1, 2, MODEL, 0.1)
ELSEWHERE = Call(1, 2, Code("/home/main.py", 1, "main"), 0.1)


def member(
    place: ChangePlace, source: str, kind: ChangeKind = "int", code: Code = MODEL, **facts: str
) -> GroupMember:
    change = GuardChange(kind, place, source, facts.pop("name", "n"), **facts)  # type: ignore[arg-type]
    return GroupMember(0, Recompile("0/1", code), change)


@pytest.mark.parametrize(
    ("each", "call", "watch"),
    [
        (member("attribute", "L['self'].k"), CALL, Watch("L['self'].k", "attribute", "k", ())),
        (member("attribute", "L['self'].k"), ELSEWHERE, None),
        (member("attribute", "L['self'].k", holder="m.Model"), ELSEWHERE,
         Watch("L['self'].k", "attribute", "k", (), holder="m.Model")),
        (member("attribute", "L['self'].k", holder="m.Model"), CALL,
         Watch("L['self'].k", "attribute", "k", ())),
        (member("attribute", "L['self'].k", "length"), CALL, None),
        (member("attribute", "L['self'][0]"), CALL, None),
        (member("global", "G['RATE']"), ELSEWHERE,
         Watch("G['RATE']", "global", "RATE", (), MODEL.file)),
        (member("global", "G['m'].RATE"), CALL, None),
        (member("default", "L['f'].__defaults__[0]"), ELSEWHERE,
         Watch("L['f'].__defaults__[0]", "default", "n", ())),
        (member("closure", "L['n']"), CALL, Watch("L['n']", "cell", "n", (), MODEL.file)),
        (member("closure", "L['n']"), ELSEWHERE, None),
        (member("parameter", "L['self']._parameters['w']"), CALL,
         Watch("L['self']._parameters['w']", "attribute", "w", (), after_first_call=True)),
        (member("parameter", "L['self']._parameters['w']"), ELSEWHERE, None),
        (member("attribute", "L['self'].k",
                code=Code("/torch/_dynamo/external_utils.py", 9, "inner")), CALL,
         Watch("L['self'].k", "attribute", "k", ())),
    ],
)  # fmt: skip
def test_what_is_watched_for_a_write(each: GroupMember, call: Call, watch: Watch | None) -> None:
    assert watch_of_write(each, call) == watch


def test_what_is_watched_for_a_name_of_a_caller() -> None:
    name = UnclearName("/home/main.py", "main", "y")
    each = member("argument", "L['x']")
    expected = Watch("L['x']", "local", "y", (), "/home/main.py", "main")
    assert watch_of_binding(each, name, CALL) == expected
    assert watch_of_binding(each, None, CALL) is None
    assert watch_of_binding(each, name, ELSEWHERE) is None
    resumed = Code("/home/model.py", 3, "forward", resumed_at=5)
    assert watch_of_binding(member("argument", "L['x']", code=resumed), name, CALL) is None


def test_where_a_value_is_kept_decides_how_it_is_followed() -> None:
    def change(place: ChangePlace) -> GuardChange:
        return GuardChange("int", place, "", "")

    places: tuple[ChangePlace, ...] = (
        "argument", "attribute", "parameter", "global", "default", "closure", "torch", "break",
    )  # fmt: skip
    assert [place for place in places if is_bound(change(place))] == ["argument", "break"]
    assert [place for place in places if is_written(change(place))] == [
        "attribute", "parameter", "global", "default", "closure",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "kind", "now", "name"),
    [
        ("L['self'].rate", "int", "2", "rate"),
        ("L['self']._modules['layer'].rate", "int", "2", "rate"),
        ("L['self']._buffers['mask']", "dtype", "", "mask"),
        ("L['self'].__dict__['rate']", "int", "2", "rate"),
        ("L['self'].__dict__", "keys", "'rate'", "rate"),
        ("L['self'].__dict__", "keys", "2 keys", ""),
        ("L['self'].options['rate']", "int", "2", ""),
        ("L['x']", "int", "2", ""),
    ],
)
def test_the_attribute_that_changes(source: str, kind: ChangeKind, now: str, name: str) -> None:
    change = GuardChange(kind, "attribute", source, "", now=now)
    assert attribute_of(change) == name
    assert attribute_of(GuardChange(kind, "global", source, "", now=now)) == ""
    contents = kind in ("length", "keys") and not source.endswith("__dict__")
    assert is_about_contents(change) is contents
    assert is_about_contents(GuardChange("length", "attribute", "L['self'].parts", ""))
