"""What every remedy declares, and groups that get no advice."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, get_args

import pytest

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.edits import apply_edits
from fullgraph.model.events import (
    FORMAT_VERSION,
    Call,
    Code,
    Compile,
    Frame,
    GuardChange,
    GuardFailure,
    Recompile,
    Stack,
)
from fullgraph.model.session import Header, Session
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies import all_remedies, propose_all
from fullgraph.recompiles.remedies._paths import has_one_path
from fullgraph.recompiles.remedies.warm_up_mode import keeps, warms_up
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


def test_a_size_that_a_line_specializes_is_not_marked_again() -> None:
    marked = ("marked dynamic, but specialized",)
    context = ProgramContext((), (), "")
    names = {each.name for each in propose_all(group(notes=marked), context)}
    assert {"dynamic_sources", "dynamic_values", "profile_of_earlier_runs"}.isdisjoint(names)
    # One that changes together with it may not be marked yet.
    tied = (*marked, "y: size(0) changes together with it")
    names = {each.name for each in propose_all(group(notes=tied), context)}
    assert "dynamic_sources" in names


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
    ("source", "in_module", "name"),
    [
        ("L['self'].k", True, "skip_guard_on_all_nn_modules_unsafe"),
        ("L['state'].k", False, None),
        ("G['conf'].k", False, "skip_guard_on_globals_unsafe"),
    ],
)
def test_only_a_filter_that_drops_the_guard_is_named(
    source: str, in_module: bool, name: str | None
) -> None:
    code = Code("/program.py", 7, "forward", "Model.forward")
    change = GuardChange("int", "attribute", source, "k", "1", "2", in_module=in_module)
    event = Recompile("0/1", code, (GuardFailure("0/0", ("k",), (change,)),))
    context = ProgramContext((Session(Header(FORMAT_VERSION, "1"), (event,)),), (), "")
    found = group(kind="int", place="attribute", source=source, name="k", dim=None)
    texts = [each.text for each in propose_all(found, context) if each.name == "skip_guards_unsafe"]
    assert len(texts) == (name is not None)
    assert all(str(name) in text for text in texts)


@pytest.mark.parametrize(
    ("values", "grows"),
    [(("1", "2", "3"), True), (("3", "1", "2"), False), (("'a'", "'b'"), False)],
)
def test_a_higher_limit_only_delays_what_grows(values: tuple[str, ...], grows: bool) -> None:
    found = group(kind="length", dim=None, values=values, refused=1, limit="recompile_limit")
    candidates = propose_all(found, ProgramContext((), (), ""))
    (text,) = [each.text for each in candidates if each.name == "recompile_limit"]
    assert ("only delays the limit" in text) == grows


@pytest.mark.parametrize(("option", "breaks"), [("", True), ("fullgraph=True", False)])
def test_no_break_is_advised_where_it_is_an_error(
    tmp_path: Path, option: str, breaks: bool
) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"import torch\n@torch.compile({option})\ndef f(x, tag): return x + len(tag)\n")
    line = Frame(str(file), 3, "f", code="def f(x, tag): return x + len(tag)")
    found = group(
        kind="str", name="tag", dim=None, specialized_at=line, refused=1, limit="recompile_limit",
        file=str(file), line=2, function="f", qualified="f",
    )  # fmt: skip
    context = ProgramContext((Session(Header(FORMAT_VERSION, "1"), ()),), (), str(file))
    names = [each.name for each in propose_all(found, context)]
    assert ("deliberate_break" in names) == breaks
    assert "recompile_limit" in names


def test_the_documentation_lists_every_remedy() -> None:
    page = (Path(__file__).parents[2] / "docs" / "recompiles.md").read_text()
    for remedy in all_remedies():
        summary = remedy.about.partition("\n")[0]
        assert f"| `{remedy.name}` | {remedy.kind} | {summary} |" in page


def proposed(folder: Path, text: str, remedy: str, **facts: Any) -> Candidate | None:
    """Return what a remedy proposes for `f` of a script that calls it in the last line."""
    file = folder / "program.py"
    file.write_text(text)
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines, 1) if "def f(" in line)
    changed = group(
        function="f",
        qualified="f",
        file=str(file),
        line=first - 1 if lines[first - 2].startswith("@") else first,
        called_at=Frame(str(file), len(lines), "<module>"),
        **facts,
    )
    candidates = propose_all(changed, ProgramContext((), (), str(file)))
    return next((each for each in candidates if each.name == remedy), None)


def edited(candidate: Candidate | None) -> str:
    """Return the edited text; empty for advice without a patch."""
    assert candidate is not None
    if not candidate.files:
        assert candidate.kind == "rewrite"
        return ""
    (change,) = candidate.files
    return apply_edits(Path(change.path).read_text(), change.edits)


CLASS = """\
import torch
LIMITS = [3]
@torch.compile
def f(x, cfg):
    return x * cfg.scale
def work(x, extra):
    class Cfg:
        {member}
    c = Cfg()
    {statement}
    return c
f(torch.ones(3), work(1, 2))
"""


@pytest.mark.parametrize(
    ("member", "statement", "is_moved"),
    [
        ("scale = 2", "pass", True),
        ("scale: int = 2", "pass", True),
        ("def grow(self, by=2): return self.scale * by", "pass", True),
        ("seen = []", "c.seen.append(1)", False),
        ("scale = LIMITS[0]", "pass", False),
        ("scale = 2", "Cfg.scale = extra", False),
        ("scale = 2", "type(c).scale = extra", False),
        ("scale = 2", "c.__class__.scale += 1", False),
        ("scale = 2", "isinstance(x, Cfg)", False),
        ("scale = 2", "kept = id(x)", False),
        ("scale = 2", "same = c is x", False),
        ("def grow(self, by=[]): by.append(1)", "pass", False),
        ("def grow(self): return extra", "pass", False),
    ],
)
def test_a_class_is_moved_only_without_state(
    tmp_path: Path, member: str, statement: str, is_moved: bool
) -> None:
    text = CLASS.format(member=member, statement=statement)
    values = ("Cfg", "another Cfg")
    found = proposed(tmp_path, text, "made_once", kind="type", values=values, source="L['cfg']")
    assert edited(found).startswith("import torch\nLIMITS = [3]\n@torch") == is_moved


@pytest.mark.parametrize(
    ("decorator", "member", "is_moved"),
    [
        ("@dataclass", "x: int", True),
        ("@dataclass(frozen=True)", "x: int = 2", True),
        ("@dataclass", "x: list = []", False),
        ("@register", "x: int", False),
    ],
)
def test_a_dataclass_is_moved_if_its_defaults_are_constants(
    tmp_path: Path, decorator: str, member: str, is_moved: bool
) -> None:
    text = CLASS.format(member=member, statement="pass")
    text = text.replace("    class Cfg", f"    {decorator}\n    class Cfg")
    text = text.replace("import torch\n", "import torch\nfrom dataclasses import dataclass\n")
    found = proposed(tmp_path, text, "made_once", kind="type", values=("Cfg",), source="L['cfg']")
    assert f"\n{decorator}\nclass Cfg:" in edited(found) or not is_moved
    assert bool(edited(found)) == is_moved


LOOP = """\
import torch
@torch.compile
def f(x, cfg):
    return x * cfg.scale
{before}
for i in range(9):
    class Cfg:
        {member}
    c = Cfg()
f(torch.ones(3), c)
"""


@pytest.mark.parametrize(
    ("before", "member", "is_moved"),
    [
        ("", "scale = 2", True),
        ("", "scale = i", False),
        ("", "def scale(self): return i", True),
        ("Cfg = None", "scale = 2", False),
        ("def g(): Cfg.scale = 3", "scale = 2", False),
    ],
)
def test_a_class_in_a_loop_is_defined_before_it(
    tmp_path: Path, before: str, member: str, is_moved: bool
) -> None:
    text = LOOP.format(before=before, member=member)
    values = ("Cfg", "another Cfg")
    found = proposed(tmp_path, text, "made_once", kind="type", values=values, source="L['cfg']")
    assert found is not None
    assert found.text.startswith("define Cfg once, before the loop")
    moved = f"class Cfg:\n    {member}\n\n\nfor i in range(9):\n    c = Cfg()"
    assert (moved in edited(found)) == is_moved


def test_a_class_in_a_loop_of_a_function_is_moved_out_of_it(tmp_path: Path) -> None:
    text = CLASS.format(member="scale = 2", statement="pass")
    before = "    class Cfg:\n        scale = 2\n    c = Cfg()"
    after = "    for x in y:\n        class Cfg:\n            scale = 2\n    c = Cfg()"
    text = text.replace(before, after)
    values = ("Cfg", "another Cfg")
    found = proposed(tmp_path, text, "made_once", kind="type", values=values, source="L['cfg']")
    assert "\nclass Cfg:\n    scale = 2\n\n\ndef work" in edited(found)
    assert "    for x in y:\n        pass\n" in edited(found)


def test_an_index_of_a_loop_over_a_range_is_an_integer(tmp_path: Path) -> None:
    text = INDEX.format(body="return table[i] * 2", index="0")
    text = text.replace("for j in range(3):\n    i = 0", "for i in torch.arange(3):")
    notes = ("the value of a 0-d tensor",)
    found = proposed(tmp_path, text, "index_with_tensor", kind="int", name="i", notes=notes)
    assert "table[i[None]][0] * 2" in edited(found)


def test_a_class_that_uses_a_hidden_name_is_not_moved(tmp_path: Path) -> None:
    text = CLASS.format(member="def grow(self): return LIMITS", statement="LIMITS = [4]")
    assert edited(proposed(tmp_path, text, "made_once", kind="type", values=("Cfg",))) == ""


BACKEND = """\
import torch
graphs, MODE = [], 1
def make():
    {before}def backend(graph, inputs):
        {statement}
        return graph.forward
    return backend
def f(x):
    return x.sin()
torch.compile(f, backend=make())(torch.ones(3))
"""


@pytest.mark.parametrize(
    ("before", "statement", "is_moved"),
    [
        ("", "pass", True),
        ("seen = []\n    ", "seen.append(graph)", False),
        ("", "mode = MODE", False),
        ("", "if graphs: return graph", False),
    ],
)
def test_a_backend_of_a_pure_factory_is_made_once(
    tmp_path: Path, before: str, statement: str, is_moved: bool
) -> None:
    text = BACKEND.format(before=before, statement=statement)
    found = proposed(tmp_path, text, "made_once", kind="backend", place="torch", values=())
    assert found is not None
    assert ("backend=made_backend)" in edited(found)) == is_moved
    assert found.kind == ("source" if is_moved else "rewrite")


INDEX = """\
import torch
table = torch.arange(40.0).reshape(10, 4)
@torch.compile
def f(table, i, rows=None):
    {body}
for j in range(3):
    i = {index}
    f(table, i)
"""


@pytest.mark.parametrize(
    ("body", "index", "is_patched"),
    [
        ("return table[i] * 2", "torch.tensor(j)", True),
        ("return table[i].mean()", "torch.tensor(j)", True),
        ("return torch.relu(table[i])", "torch.tensor(j)", True),
        ("return table[i].add_(1)", "torch.tensor(j)", False),
        ("return torch.relu(table[i], out=rows)", "torch.tensor(j)", False),
        ("return table[i].view(2, 2)", "torch.tensor(j)", False),
        ("return table[i] * 2", "torch.tensor(k, dtype=torch.int64)", True),
        # Masks, and what is not known to be a tensor of integers.
        ("return table[i] * 2", "torch.tensor(k)", False),
        ("return table[i] * 2", "j", False),
        # Writes through the view, and a list that is indexed, too.
        ("r = table[i]; r.zero_(); return r", "torch.tensor(j)", False),
        ("return table[i] * rows[i]", "torch.tensor(j)", False),
    ],
)
def test_an_index_gets_a_dimension_only_where_it_is_certain(
    tmp_path: Path, body: str, index: str, is_patched: bool
) -> None:
    text = INDEX.format(body=body, index=index)
    notes = ("the value of a 0-d tensor",)
    found = proposed(tmp_path, text, "index_with_tensor", kind="int", name="i", notes=notes)
    assert ("table[i[None]][0]" in edited(found)) == is_patched


def test_an_index_that_another_call_passes_is_not_certain(tmp_path: Path) -> None:
    text = INDEX.format(body="return table[i] * 2", index="torch.tensor(j)")
    text = text.replace("for j", "if 0: f(table, 3)\nfor j")
    found = proposed(tmp_path, text, "index_with_tensor", kind="int", name="i",
                     notes=("the value of a 0-d tensor",))  # fmt: skip
    assert edited(found) == ""


@pytest.mark.parametrize(
    ("body", "is_patched"),
    [
        ("return torch.relu(x) + x * 2", True),
        ("return (x * 2).relu().sum(-1)", True),
        ("return torch.relu(1 - x / 2)", True),
        ("return torch.relu(x * weight)", False),
        ("return (x * 2).sum()", False),
        ("return x * 2", False),
        ("return torch.relu(x.mul_(2))", False),
        ("return torch.relu(x), x[0]", False),
        ("return torch.relu(x, out=x)", False),
        ("x += torch.relu(x)", False),
        ("return torch.relu(x).view(-1)", False),
        ("return torch.relu(x) if x.shape[0] else x * 2", False),
    ],
)
def test_an_argument_that_may_be_written_is_not_copied(
    tmp_path: Path, body: str, is_patched: bool
) -> None:
    text = f"import torch\nx = make()\n@torch.compile\ndef f(x):\n    {body}\nf(x)\n"
    found = proposed(tmp_path, text, "one_layout", kind="stride")
    assert edited(found).endswith("f(x.contiguous())\n") == is_patched


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        ("return x.long() + x.shape[0]", "int64"),
        ("return x.float().mean() * x.to(torch.float32)", "float32"),
        ("return y.masked_fill(x.to(dtype=torch.bool), 0)", "bool"),
        ("return x.int()", "int32"),
        ("x = x.float() / 255; return (x - x.mean()) / x.std()", "float32"),
        ("y = x.shape[0]; x = x.float(); return x * y", "float32"),
        ("y = x * 2; x = x.float(); return x * y", None),
        ("x = y = x.float(); return x * y", None),
        ("x = x.float(); x = x * 2; return x", None),
        ("x += x.float(); return x", None),
        ("g = lambda: x; x = x.float(); return g()", None),
        ("return (x + 100).long()", None),
        ("return (~x).long()", None),
        ("return x.long() + x.float()", None),
        ("return x.to(y)", None),
        ("return x.long() if flag else 0", None),
    ],
)
def test_a_dtype_is_changed_only_if_the_function_does_the_same(
    tmp_path: Path, body: str, dtype: str | None
) -> None:
    text = f"import torch\nx = make()\n@torch.compile\ndef f(x):\n    {body}\nf(x)\n"
    values = ("torch.int32", "torch.bool", "torch.float32")
    found = proposed(tmp_path, text, "one_dtype", kind="dtype", values=values)
    assert (found is not None) == (dtype is not None)
    assert found is None or f"\nf(x.to(torch.{dtype}))\n" in edited(found)


COUNTED = """\
import torch
class Log:
    @torch.compile
    def f(self, x):
        {body}
        return x + len(self.seen)
log.f(x)
"""


@pytest.mark.parametrize(
    ("body", "line", "is_own"), [("self.seen.append(1)", 5, True), ("pass", 7, False)]
)
def test_a_container_that_the_function_grows_itself_is_updated_elsewhere(
    tmp_path: Path, body: str, line: int, is_own: bool
) -> None:
    file = str(tmp_path / "program.py")
    Path(file).write_text(COUNTED.format(body=body))
    found = group(
        kind="length", place="attribute", name="self.seen", dim=None, values=("0", "1", "2"),
        file=file, line=3, function="f", qualified="Log.f", written_at=Frame(file, line, "f"),
        specialized_at=Frame(file, 6, "f"),
    )  # fmt: skip
    candidates = propose_all(found, ProgramContext((), (), file))
    texts = {each.name: each.text for each in candidates}
    if is_own:
        assert texts["counter_out_of_forward"] == "move the update of self.seen out of f"
    assert ("deliberate_break" in texts) != is_own


MARKED = """\
import torch
def head(x):
    return x.cumsum(0)
def f(x{more}):
    return {result}
for n in (1, 2, 3):
    x = {value}
    f(x)
"""


@pytest.mark.parametrize(
    ("more", "result", "value", "is_marked"),
    [
        ("", "head(x).sum()", "torch.ones(n, 2)", True),
        ("", "head(x).sum()", "torch.ones(n)", True),
        ("", "x.view(4, 2) if check else x", "torch.ones(n, 2)", False),
        ("", "check and x.sum() or x", "torch.ones(n, 2)", False),
        ("", "other(x)", "torch.ones(n, 2)", False),
        ("", "x.chunk(2)", "torch.ones(n, 2)", False),
        # Another size may have to fit, and so may another number of dimensions.
        (", y=1", "x + y", "torch.ones(n, 2)", False),
        ("", "head(x)", "torch.ones(shape)", False),
    ],
)
@pytest.mark.parametrize("remedy", ["mark_dynamic", "mark_unbacked"])
def test_sizes_are_marked_only_if_no_code_can_need_them(
    tmp_path: Path, remedy: str, more: str, result: str, value: str, is_marked: bool
) -> None:
    text = MARKED.format(more=more, result=result, value=value)
    found = proposed(tmp_path, text, remedy, values=("1", "2"))
    assert (found is not None) == is_marked
    assert proposed(tmp_path, text, "maybe_mark_dynamic") is not None


def test_a_marked_tensor_goes_to_no_other_function(tmp_path: Path) -> None:
    text = MARKED.format(more="", result="head(x)", value="torch.ones(n, 2)")
    assert (
        proposed(tmp_path, text.replace("    f(x)", "    g(x)\n    f(x)"), "mark_dynamic") is None
    )


def test_unbacked_sizes_come_last(tmp_path: Path) -> None:
    text = MARKED.format(more="", result="head(x)", value="torch.ones(n, 2)")
    found = proposed(tmp_path, text, "mark_unbacked", values=("1", "2"))
    assert found is not None
    assert found.comes_last
    # Other functions may have an argument of the same name.
    sources = proposed(tmp_path, text, "unbacked_sources", values=("1", "2"))
    assert sources is not None
    assert not sources.can_be_replayed


@pytest.mark.parametrize(
    ("parameters", "body", "value", "statement"),
    [
        ("x", "return torch.relu(x)", "make()", "\ntorch._dynamo.maybe_mark_dynamic(x, 0)\n"),
        ("x", "return x.softmax(0)", "make()", "\ntorch._dynamo.maybe_mark_dynamic(x, 0)\n"),
        ("x", "return x + 1", "torch.ones(3)", "\ntorch._dynamo.maybe_mark_dynamic(x, 0)\n"),
        # Another call may pass None, or an array of NumPy.
        ("x", "return x + 1", "make()", "if isinstance(x, torch.Tensor):\n    torch._dynamo."),
        ("x", "return 1 if x is None else x.exp()", "make()", "if isinstance(x, torch.Tensor):"),
    ],
)
def test_only_tensors_are_marked(
    tmp_path: Path, parameters: str, body: str, value: str, statement: str
) -> None:
    text = f"import torch\nx = {value}\n@torch.compile\ndef f({parameters}):\n    {body}\nf(x)\n"
    assert statement in edited(proposed(tmp_path, text, "maybe_mark_dynamic"))


def test_an_item_that_another_call_may_not_have_is_not_marked(tmp_path: Path) -> None:
    text = "import torch\nb = make()\n@torch.compile\ndef f(b):\n    {body}\nf(b)\n"
    facts = {"source": "L['b']['x']", "name": "b['x']"}
    always, sometimes = "return b['x'].exp()", "return b['x'].exp() if 'x' in b else 0"
    found = proposed(tmp_path, text.format(body=always), "maybe_mark_dynamic", **facts)
    assert "maybe_mark_dynamic(b['x'], 0)" in edited(found)
    assert proposed(tmp_path, text.format(body=sometimes), "maybe_mark_dynamic", **facts) is None


NUMBER = """\
import torch
@torch.compile
def f(x, n):
    {body}
for n in {values}:
    x = {x}
    f(x, n)
"""


@pytest.mark.parametrize(
    ("kind", "body", "x", "values", "passes"),
    [
        ("float", "return x * n", "torch.ones(3)", "(0.5, 0.6)", "torch.tensor(n, dtype=torch.fl"),
        ("float", "return x.exp() / n", "make()", "(0.5, 0.6)", "torch.tensor(n, dtype=torch.fl"),
        ("int", "return x * n", "make()", "numbers", "torch.as_tensor(n)"),
        # Integers would become float64, a tensor would lose its gradient.
        ("float", "return x * n", "torch.arange(3)", "(0.5, 0.6)", ""),
        ("float", "return x.exp() / n", "make()", "numbers", ""),
        # It is returned, decides something, or is used as a number.
        ("int", "return x * n, n", "make()", "numbers", ""),
        ("int", "return x * n if x.ndim else x[:n]", "make()", "numbers", ""),
        ("int", "return x[:n] * n", "make()", "numbers", ""),
    ],
)
def test_a_number_becomes_a_tensor_only_where_it_is_computed_with(
    tmp_path: Path, kind: str, body: str, x: str, values: str, passes: str
) -> None:
    text = NUMBER.format(body=body, x=x, values=values)
    facts = {"source": "L['n']", "name": "n", "dim": None}
    found = proposed(tmp_path, text, "number_as_tensor", kind=kind, **facts)
    changed = found is not None and bool(found.files)
    assert changed == bool(passes)
    assert passes in (edited(found) if changed else "")


ATTRIBUTE = """\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.scale = 0.0
    def f(self, x):
        {body}
model = Model()
for n in range(3):
    model.scale = {value}
    {other}
    model.f(torch.ones(3))
"""


@pytest.mark.parametrize(
    ("kind", "body", "value", "other", "is_patched"),
    [
        ("float", "return self.linear(x) * self.scale", "0.1 * n", "pass", True),
        ("int", "return x + self.scale", "n", "model.scale += 1", True),
        ("float", "return x * self.scale", "0.1 * n", "pass", False),
        ("float", "return self.linear(x) * self.scale", "rates[n]", "pass", False),
        ("float", "return self.linear(x) * self.scale", "0.1 * n", "print(model.scale)", False),
        ("float", "return self.linear(x) * self.scale", "0.1", "vars(model)", False),
        ("float", "return self.linear(x) * self.scale", "0.1", "torch.inference_mode()", False),
        ("int", "return x[: self.scale]", "n", "pass", False),
        ("int", "return x + self.scale", "n", "model.scale *= 0.5", False),
    ],
)
def test_an_attribute_becomes_a_tensor_only_if_nothing_needs_a_number(
    tmp_path: Path, kind: str, body: str, value: str, other: str, is_patched: bool
) -> None:
    text = ATTRIBUTE.format(body=body, value=value, other=other)
    facts = {"place": "attribute", "source": "L['self'].scale", "name": "self.scale", "dim": None}
    found = proposed(tmp_path, text, "attribute_as_tensor", kind=kind, **facts)
    result = edited(found)
    assert (f"model.scale = torch.tensor({value}, dtype=" in result) == is_patched
    assert ("self.scale = torch.tensor(0.0, dtype=" in result) == is_patched


@pytest.mark.parametrize(
    ("option", "statement", "is_patched"),
    [
        ("", "pass", True),
        ("", "optimizer.param_groups[0]['lr'] = 0.2", True),
        (", foreach=True", "pass", False),
        (", **options", "pass", False),
        ("", "optimizer.param_groups[0]['lr'] *= 0.5", False),
        ("", "print(optimizer.param_groups[0]['lr'])", False),
        ("", "print(scheduler.get_last_lr())", False),
    ],
)
def test_a_learning_rate_becomes_a_tensor_if_nothing_needs_a_number(
    tmp_path: Path, option: str, statement: str, is_patched: bool
) -> None:
    text = "import torch\nfrom torch.optim import SGD\noptimizer = SGD([], lr=0.1{})\n{}\n"
    text = text.format(option, statement) + "def f():\n    optimizer.step()\nf()\n"
    facts = {"source": "L['self'].param_groups[0]['lr']", "place": "attribute", "dim": None}
    found = proposed(tmp_path, text, "learning_rate_as_tensor", kind="float", **facts)
    assert ("SGD([], lr=torch.tensor(0.1))" in edited(found)) == is_patched


@pytest.mark.skipif(
    not (has_feature("shapes_spec=") or has_feature("dynamic_shapes=")), reason="torch lacks it"
)
def test_sizes_are_declared_in_place_of_dynamic(tmp_path: Path) -> None:
    text = MARKED.format(more="", result="head(x)", value="torch.ones(n, 2)")
    text = text.replace("def f(", "@torch.compile(dynamic=False)\ndef f(")
    found = proposed(tmp_path, text, "shapes_spec", values=("1", "2"))
    assert '={"x": TensorSpec([ShapeVar("x_0"), None])})\ndef f(' in edited(found)
    assert "dynamic=" not in edited(found)
    assert found is not None
    assert found.comes_last
    assert proposed(tmp_path, text.replace("(n, 2)", "(shape)"), "shapes_spec") is None


def test_a_size_that_comes_back_is_specialized(tmp_path: Path) -> None:
    text = MARKED.format(more="", result="head(x)", value="torch.ones(n, 2)")
    values = ("8", "3", "8", "4")
    found = edited(proposed(tmp_path, text, "specialize_on", values=values))
    assert "mark_dynamic(x, 0, specialize_on=[lambda size: size == 8])" in found
    assert proposed(tmp_path, text, "specialize_on", values=("8", "3")) is None
    branches = text.replace("head(x)", "head(x) if check else x")
    assert edited(proposed(tmp_path, branches, "specialize_on", values=values)) == ""


def test_a_size_that_was_equal_to_another_one_is_static(tmp_path: Path) -> None:
    text = MARKED.format(more="", result="head(x)", value="torch.ones(n, 2)")
    facts = {"values": ("x.size(0)", "2"), "dim": 1}
    found = proposed(tmp_path, text, "mark_static", notes=("dynamic=True",), **facts)
    assert "    torch._dynamo.mark_static(x, 1)\n    f(x)" in edited(found)
    assert proposed(tmp_path, text, "mark_static", **facts) is None
    sources = proposed(tmp_path, text, "static_sources", notes=("dynamic=True",), **facts)
    assert (sources is not None) == has_feature("static_sources")


def test_what_is_created_again_gets_no_higher_limit(tmp_path: Path) -> None:
    text = CLASS.format(member="seen = []", statement="pass")
    facts = {"kind": "type", "refused": 1, "limit": "recompile_limit", "values": ("Cfg",)}
    again = ("the class is created again",)
    assert proposed(tmp_path, text, "recompile_limit", **facts) is not None
    assert proposed(tmp_path, text, "recompile_limit", notes=again, **facts) is None


def test_a_lambda_is_made_once_if_it_uses_nothing_else(tmp_path: Path) -> None:
    text = "import torch\ndef f(x):\n    return x\ndef run(x, kept):\n    return torch.compile("
    text += "f, backend=lambda graph, inputs: {})(x)\nrun(torch.ones(2), [])\n"
    facts = {"kind": "backend", "place": "torch", "values": ()}
    found = edited(proposed(tmp_path, text.format("graph.forward"), "made_once", **facts))
    assert "\nmade_backend = lambda graph, inputs: graph.forward\n\n\ndef run(" in found
    assert "torch.compile(f, backend=made_backend)(x)" in found
    kept = proposed(tmp_path, text.format("kept.append(graph) or graph"), "made_once", **facts)
    assert edited(kept) == ""


def source_file(text: str) -> SourceFile:
    return SourceFile("/program.py", text, ast.parse(text))


@pytest.mark.parametrize(
    ("body", "warms"),
    [
        ("model(torch.zeros(3))", True),
        ("compute(torch.zeros(3))", True),
        ("y = model(torch.zeros(3))", False),
        ("kept.append(model(torch.zeros(3)))", False),
        ("model(torch.zeros(3)); y = 1", False),
        ("model(next(data))", False),
        ("print(model(torch.zeros(3)))", False),
    ],
)
def test_a_warm_up_drops_its_result(body: str, warms: bool) -> None:
    text = "import torch\ndef compute(x):\n    return model(x).mean()\n"
    file = source_file(f"{text}with torch.no_grad():\n    {body}\n")
    (statement,) = (node for node in file.nodes if isinstance(node, ast.With))
    line = 3 if body.startswith("compute") else 5
    (call,) = (
        node
        for node in file.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "model" and node.lineno == line
    )
    frame = Frame("/program.py", line, "", end_line=line, end_column=(call.end_col_offset or 0) + 1)
    assert warms_up(file, statement, frame) == warms


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("return x + 1", False),
        ("'text'; y = x + 1; return y", False),
        ("self.last = x; return x", True),
        ("cache[0] = x", True),
        ("kept.append(x)", True),
        ("global y; y = x", True),
    ],
)
def test_a_function_that_keeps_a_result_is_not_warmed_up_in_another_mode(
    body: str, kept: bool
) -> None:
    function = ast.parse(f"def f(self, x):\n    {body}").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert keeps(function) == kept


@pytest.mark.parametrize(
    ("body", "has_one"),
    [
        ("return network(x).sum(0)", True),
        ("return self.layer(x)", True),
        ("return helper(x)", False),
        ("return self.unknown(x)", False),
        ("return x.plan()", False),
        ("for each in x: pass", False),
        ("assert x", False),
        ("return a < x < b", False),
    ],
)
def test_code_has_one_path_if_nothing_in_it_decides(body: str, has_one: bool) -> None:
    text = (
        "from torch import nn\nnetwork = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\n"
        "def helper(x):\n    return x if x.ndim else 0\n"
        "class Model:\n    def __init__(self):\n        self.layer = nn.Linear(2, 2)\n"
        f"    def forward(self, x):\n        {body}\n"
    )
    file = source_file(text)
    forward = next(each for each in file.functions if getattr(each, "name", "") == "forward")
    assert has_one_path(file, forward) == has_one


def test_what_is_compiled_for_one_call_is_not_isolated() -> None:
    code = Code("/program.py", 7, "forward")
    header = Header(format=FORMAT_VERSION, fullgraph="1")

    def is_per_call(*targets: int) -> bool:
        calls = [Call(target, 1, code, 0.1, compiles=("0/0",)) for target in targets]
        session = Session(header, (Compile("0/0", code), *calls))
        return ProgramContext((session,), (), "").is_compiled_per_call(group())

    assert is_per_call(1, 2, 3)
    assert not is_per_call(1, 2, 2)


@pytest.mark.parametrize(("between", "is_direct"), [("module", True), ("container", False)])
def test_what_a_container_of_torch_calls_gets_other_arguments(
    between: str, is_direct: bool
) -> None:
    code = Code("/home/program.py", 7, "forward", "Model.forward")
    frames = (
        Frame("/home/program.py", 20, "<module>", code="model(x)"),
        Frame(f"/lib/torch/nn/modules/{between}.py", 9, "call", code="return f(*args)"),
    )
    event = Recompile("0/1", code, stack=Stack(frames))
    session = Session(Header(FORMAT_VERSION, "1", torch_folder="/lib/torch"), (event,))
    context = ProgramContext((session,), (), "")
    found = group(file="/home/program.py", compiles=("0/1",))
    assert context.is_called_directly(found) == is_direct


def test_a_backend_that_is_made_anew_is_not_isolated(tmp_path: Path) -> None:
    text = BACKEND.format(before="", statement="pass")
    notes = ("9 calls of torch.compile share this code and its limit",)
    facts = {"refused": 1, "notes": notes, "place": "torch"}
    assert proposed(tmp_path, text, "isolate_recompiles", kind="backend", **facts) is None
    assert proposed(tmp_path, text, "isolate_recompiles", kind="str", **facts) is not None
