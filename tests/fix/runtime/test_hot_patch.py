"""Edited source reaches every loaded function, wherever it is held, and can be undone."""

from __future__ import annotations

import gc
import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

from fullgraph.fix.model import FixError
from fullgraph.fix.runtime import hot_patch
from fullgraph.fix.runtime.hot_patch import index_functions, patch_functions
from fullgraph.fix.source.edits import Edit, FileEdits

SOURCE = """\
import functools


def shouting(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args).upper()
    return call


def plain(x):
    return f"old {x}"


@shouting
def decorated(x):
    return f"old {x}"


def outer(prefix):
    def inner(x):
        return f"old {prefix} {x}"
    return inner


class Base:
    name = "base"

    def method(self, x):
        return f"old {self.name} {x}"

    @property
    def value(self):
        return "old"

    @value.setter
    def value(self, new):
        self.kept = f"old {new}"

    @classmethod
    def made(cls, x):
        return f"old {cls.__name__} {x}"

    def upwards(self, x):
        return "old"


class Derived(Base):
    name = "derived"

    def upwards(self, x):
        return "old " + super().method(x)


closure = outer("a")
instance = Derived()
held = [plain, instance.method]
"""


def rewritten(file: str, text: str, *additions: str) -> FileEdits:
    """The edit that turns a file into another text."""
    whole = Edit(0, len(Path(file).read_text()), text)
    return FileEdits(file, (whole,), additions)


@pytest.fixture
def module(tmp_path: Path) -> Any:
    file = tmp_path / "victim.py"
    file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("victim", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(module: Any) -> list[str]:
    instance = module.instance
    instance.value = 1
    return [
        module.plain(1),
        module.decorated(1).lower(),
        module.closure(1),
        instance.method(1),
        instance.value,
        instance.kept,
        module.Derived.made(1),
        instance.upwards(1),
        *(each(1) for each in module.held),
    ]


def test_everything_that_holds_a_function_runs_the_new_code(module: Any) -> None:
    before = results(module)
    new = "# a line more\n" + SOURCE.replace("old", "new")
    undo = patch_functions([rewritten(module.__file__, new)])
    assert results(module) == [each.replace("old", "new") for each in before]
    assert module.plain.__code__.co_firstlineno == new.splitlines().index("def plain(x):") + 1
    assert "new" in inspect.getsource(module.plain)
    undo()
    assert results(module) == before


def test_the_module_gets_the_imports_and_loses_them_again(module: Any) -> None:
    new = SOURCE.replace('return f"old {x}"', "return str(math.floor(x))", 1)
    undo = patch_functions([rewritten(module.__file__, f"import math\n{new}", "import math")])
    assert module.plain(1.5) == "1"
    undo()
    assert not hasattr(module, "math")


def test_a_name_that_an_addition_binds_again_gets_its_value_back(module: Any) -> None:
    first = module.functools
    undo = patch_functions([rewritten(module.__file__, SOURCE, "import math as functools")])
    assert module.functools is not first
    undo()
    assert module.functools is first


def test_another_closure_is_refused_and_nothing_is_half_done(module: Any) -> None:
    before = results(module)
    new = SOURCE.replace("old", "new").replace('f"new {prefix} {x}"', 'f"new {x}"')
    with pytest.raises(FixError, match="closure"):
        patch_functions([rewritten(module.__file__, new)])
    assert results(module) == before


def test_a_file_that_nothing_has_loaded_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "unknown.py"
    file.write_text("def f(): return 1\n")
    with pytest.raises(FixError, match=r"unknown\.py"):
        patch_functions([rewritten(str(file), "def f(): return 2\n")])


def test_functions_are_found_whatever_the_garbage_collector_knows(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may call gc.freeze(), and an index is built before a process is forked."""
    # Other tests of this process may have built one.
    monkeypatch.setattr(hot_patch, "_indexed", {})
    before = results(module)
    new = SOURCE.replace("old", "new")
    gc.freeze()
    undo = patch_functions([rewritten(module.__file__, new)])
    assert results(module) != before
    undo()
    forget = index_functions()
    late = module.outer("b")
    undo = patch_functions([rewritten(module.__file__, new)])
    assert results(module) == [each.replace("old", "new") for each in before]
    assert late(1) == "new b 1"
    undo()
    forget()
    assert results(module) == before


def test_functions_inside_a_function_keep_the_name_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script is known by the name that it was started with, which may be a relative path."""
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(SOURCE)
    namespace: dict[str, Any] = {}
    exec(compile(SOURCE, "script.py", "exec"), namespace)
    undo = patch_functions([rewritten("script.py", SOURCE.replace("old", "new"))])
    inner = namespace["outer"]("c")
    assert inner(1) == "new c 1"
    assert inner.__code__.co_filename == "script.py"
    undo()
