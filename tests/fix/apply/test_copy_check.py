"""A changed program runs in a new process before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from fullgraph.fix.apply import Change, copy_check
from fullgraph.fix.apply.copy_check import check_copy, check_syntax
from fullgraph.fix.apply.outside_functions import differ_outside_functions
from fullgraph.fix.model import FixError, ProgramRecorded, Settings
from tests.warm_cli import start_copy

RECORDED = ProgramRecorded(calls=("f", "f"), functions=("f",))
PROGRAM = """\
import torch

SCALE = 2.0


def f(x):
    return x * SCALE


compiled = torch.compile(f, backend="eager")
compiled(torch.ones(2))
open("went-on", "w").close()
"""
Check = Callable[..., None]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Check a changed program, whose original is PROGRAM, in a fork of this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(copy_check, "start_process", start_copy)

    def run(after: str, settings: Settings | None = None, before: str = PROGRAM) -> None:
        file = tmp_path / "prog.py"
        file.write_text(before)
        change = Change(str(file), before, after)
        check_copy(["prog.py"], [change], settings or {}, RECORDED)
        assert file.read_text() == before

    return run


def test_the_program_runs_as_far_as_its_recorded_calls(check: Check, tmp_path: Path) -> None:
    check(PROGRAM.replace("x * SCALE", "SCALE * x"))
    assert not (tmp_path / "went-on").exists()


def test_a_real_process_checks_the_same(tmp_path: Path) -> None:
    file = tmp_path / "prog.py"
    file.write_text(PROGRAM)
    change = Change(str(file), PROGRAM, PROGRAM.replace("SCALE = 2.0", "SCALE = TWO"))
    with pytest.raises(FixError, match=r"NameError: name 'TWO' is not defined \(.*prog.py:3"):
        check_copy([str(file)], [change], {}, RECORDED)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("import torch\n", "SCALES = torch.ones(2)\nimport torch\n", "NameError: name 'torch'"),
        ("return x * SCALE", "return x * SCALES", "name 'SCALES' is not defined"),
        ("SCALE = 2.0", "SCALE = 3.0", "call 1, of f, has other inputs or another result"),
        ("compiled(torch.ones(2))\n", "", "f is no longer called"),
    ],
)
def test_a_change_that_does_not_work_where_it_is_written_is_refused(
    check: Check, old: str, new: str, message: str
) -> None:
    with pytest.raises(FixError, match=message) as raised:
        check(PROGRAM.replace(old, new))
    assert str(raised.value).endswith("nothing was written")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("below", ["", "torch._dynamo.config.capture_scalar_outputs = False\n"])
def test_a_setting_has_to_be_in_effect_when_something_is_compiled(check: Check, below: str) -> None:
    setting = "import torch._dynamo\n\ntorch._dynamo.config.capture_scalar_outputs = True\n"
    after = PROGRAM.replace("import torch\n", f"import torch\n{setting}{below}")
    settings: Settings = {"capture_scalar_outputs": True}
    if not below:
        check(after, settings)
        return
    with pytest.raises(FixError, match="capture_scalar_outputs is not set when f is called"):
        check(after, settings)


def test_a_program_without_seeds_is_not_refused(check: Check) -> None:
    before = PROGRAM.replace("torch.ones(2)", "torch.rand(2)")
    before = before.replace("import torch\n", "import torch\ntorch.seed()\n")
    check(before.replace("SCALE = 2.0", "SCALE = 1.0 + 1.0"), before=before)


@pytest.mark.parametrize(
    "call",
    [
        "while True:\n    try:\n        compiled(torch.ones(2))\n    except BaseException:\n"
        "        pass\n",
        "import threading\nt = threading.Thread(target=compiled, args=(torch.ones(2),))\n"
        "t.start()\nthreading.Event().wait()\n",
    ],
)
def test_a_program_that_never_ends_is_stopped_at_its_call(check: Check, call: str) -> None:
    before = PROGRAM.replace("compiled(torch.ones(2))\n", call)
    check(before.replace("x * SCALE", "SCALE * x"), before=before)


def test_a_program_that_waits_forever_is_ended(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_check, "_LEAST_SECONDS", 0.5)
    after = PROGRAM.replace("compiled(", "import threading\nthreading.Event().wait()\ncompiled(")
    with pytest.raises(FixError, match="did not reach its recorded calls"):
        check(after)


def test_a_program_that_kills_itself_is_refused(check: Check) -> None:
    after = PROGRAM.replace("compiled(", "import os\nos._exit(3)\ncompiled(")
    with pytest.raises(FixError, match="it ended early, with exit code 3"):
        check(after)


def test_changed_modules_are_imported_from_their_changed_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(copy_check, "start_process", start_copy)
    header = "# -*- coding: latin-1 -*-\nimport torch\nNAME = 'caf\xe9'\n"
    before = f"{header}def f(x):\n    return x * len(NAME)\n"
    module = tmp_path / "layers_of_copy.py"
    module.write_bytes(before.encode("latin-1"))
    (tmp_path / "prog.py").write_text(
        "import torch\nfrom layers_of_copy import f\n"
        "torch.compile(f, backend='eager')(torch.ones(2))\n"
    )
    right = before.replace("x * len(NAME)", "len(NAME) * x")
    wrong = before.replace("len(NAME)", "len(NAMES)")
    for after in (right, wrong):
        change = Change(str(module), before, after, "iso-8859-1")
        check_syntax([change])
        if after is right:
            check_copy(["prog.py"], [change], {}, RECORDED)
            continue
        with pytest.raises(FixError, match=r"NameError: name 'NAMES' .*layers_of_copy.py:5"):
            check_copy(["prog.py"], [change], {}, RECORDED)
    missing = replace(change, path=str(tmp_path / "never_imported.py"))
    with pytest.raises(FixError, match=r"never_imported.py is not imported"):
        check_copy(["prog.py"], [missing], {}, RECORDED)


def test_text_that_python_does_not_accept_is_never_written() -> None:
    with pytest.raises(FixError, match=r"the fixes make prog.py invalid"):
        check_syntax([Change("prog.py", "x = 1\n", "x = (1\n")])


@pytest.mark.parametrize(
    ("after", "differs"),
    [
        ("def f(x):\n    return 2\n", False),
        ("# why\ndef f(x): return 1\n", False),
        ("def f(x):\n    return 1\n\ny = 2\n", True),
        ("def f(x=0):\n    return 1\n", True),
        ("@cache\ndef f(x):\n    return 1\n", True),
    ],
)
def test_what_changes_outside_of_functions(after: str, differs: bool) -> None:
    assert differ_outside_functions("def f(x):\n    return 1\n", after) is differs


def test_methods_that_build_objects_count_as_outside() -> None:
    text = "class A:\n    def {}(self):\n        self.x = {}\n"
    assert differ_outside_functions(text.format("__init__", 1), text.format("__init__", 2))
    assert not differ_outside_functions(text.format("forward", 1), text.format("forward", 2))
