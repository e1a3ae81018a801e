"""The checks of claims, and that names are found without importing torch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, _torch_names, run_checks
from fullgraph.ai.checks._torch_names import TorchNames
from fullgraph.ai.facts import Subject

# Names of which torch's files say that they are there.
EXISTING = re.findall(
    r"\S+",
    "torch.where torch.cond torch.add torch.float32 torch.Generator torch.Tensor.item "
    "torch.Tensor.to torch.nn.Linear torch.nn.functional.softmax torch.compiler.is_compiling "
    "torch._check torch.library.custom_op torch._dynamo.mark_dynamic torch.linalg.norm "
    "torch.utils.checkpoint.checkpoint torch.no_grad torch.func.vmap torch.fft.fft",
)
# Each is the name of something else: a method, a parameter, a module's inner function.
MISSING = re.findall(
    r"\S+",
    "torch.compile_all torch.forward torch.Tensor.compile torch.Tensor.custom_op "
    "torch.nn.functional.relux torch.compiler.graph_break_here torch.where.not_there "
    "torch.nosuch.f",
)


def _subject(file: str = "", **changes: object) -> Subject:
    fields = {
        "place": "f.py:1", "id": "GB0124", "type": "T", "category": "data-dependent", "file": file,
        "folder": "", "torch": "2.13.0", "facts": ("One.", "Two."), "blocks": (), **changes,
    }  # fmt: skip
    return Subject(**fields)  # type: ignore[arg-type]


def checks(subject: Subject | None = None, **claims: object) -> list[Check]:
    given = {"cause": "", "why": "", "change": "", **claims}
    return list(run_checks(Answer(**given), subject or _subject()))  # type: ignore[arg-type]


def verdicts(subject: Subject | None = None, **claims: object) -> dict[str, bool | None]:
    return {each.claim: each.ok for each in checks(subject, **claims)}


def test_names_are_found_in_files_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        _torch_names, "_ask_torch", lambda names: asked.extend(names) or dict.fromkeys(names)
    )
    names = TorchNames()
    names.learn(EXISTING)
    assert asked == []
    names.learn(MISSING)
    # Files alone never say that a name is missing.
    assert asked == MISSING


def test_torch_decides_about_what_its_files_do_not_tell() -> None:
    names = TorchNames()
    assert {name: names.has(name) for name in MISSING} == dict.fromkeys(MISSING, False)
    assert names.has("torch.nn.Module.forward") is True
    assert names.has("torch.ops.aten.add") is True
    assert names.has("torch.ops.aten.no_such_operator") is False


def test_another_process_is_asked_where_torch_is_not_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        given.append(command)
        return subprocess.CompletedProcess(command, 0, 'noise\n{"torch.a": false, "torch.b": null}')

    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(_torch_names.subprocess, "run", run)
    names = TorchNames()
    names.learn(["torch.a", "torch.b"])
    assert (names.has("torch.a"), names.has("torch.b"), len(given)) == (False, None, 1)

    def fails(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(_torch_names.subprocess, "run", fails)
    assert TorchNames().has("torch.c") is None


def test_names_of_python_and_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("class Net:\n    def gate(self, x): ...\n")
    found = verdicts(
        _subject(str(file)),
        names=("math.prod", "math.produce", "Net.gate", "self.gate", "len", "numpy.sum", "a b"),
    )
    assert found == {
        "math.prod": True, "math.produce": False, "Net.gate": True, "self.gate": True, "len": True,
        "numpy.sum": None, "a b": None,
    }  # fmt: skip


def test_settings() -> None:
    found = verdicts(
        settings=(
            "torch._dynamo.config.capture_scalar_outputs = True",
            "recompile_limit",
            "torch._inductor.config.triton.cudagraphs",
            "torch._inductor.config.triton.nothing",
            "torch._dynamo.config.nothing",
            "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1",
            "TORCHDYNAMO_NOTHING",
        ),
        escape="or set torch._dynamo.config.nothing_either",
    )
    assert found == {
        "torch._dynamo.config.capture_scalar_outputs": True,
        "recompile_limit": True,
        "torch._inductor.config.triton.cudagraphs": True,
        "torch._inductor.config.triton.nothing": False,
        "torch._dynamo.config.nothing": False,
        "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS": True,
        "TORCHDYNAMO_NOTHING": False,
        "torch._dynamo.config.nothing_either": False,
    }


def test_lines(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("a = 1\n\nb = 2\n")
    found = verdicts(
        _subject(str(file), folders=(str(tmp_path),)),
        lines=("f.py:1", "3", "f.py:2", "f.py:9", "g.py:1", "lines 1-3", "somewhere"),
        why="See line 44 and f.py:45.",
    )
    assert found == {
        "f.py:1": True, "f.py:3": True, "f.py:2": False, "f.py:9": False, "g.py:1": False,
        "somewhere": None, "f.py:44": False, "f.py:45": False,
    }  # fmt: skip
    assert verdicts(lines=("f.py:1",)) == {"f.py:1": None}


@pytest.mark.parametrize(
    ("snippet", "ok"),
    [
        ("x = 1", True),
        ("    return x\n", True),
        ("if x:\n    continue", True),
        ("await f()", True),
        ("x = = 1", False),
        ("x = (", False),
        ("x\x00y", False),
        ("import os; os._exit(3)", True),
    ],
)
def test_a_snippet_is_compiled_and_not_run(snippet: str, ok: bool) -> None:
    (check,) = [each for each in checks(snippet=snippet) if each.kind == "snippet"]
    assert check.ok is ok


def test_categories_ids_and_facts() -> None:
    found = checks(
        category="python", cause="GB0124, GB0170, GB9999", facts=("F2", "f3", "the first")
    )
    assert [(each.kind, each.claim, each.ok) for each in found] == [
        ("category", "python", False),
        ("id", "GB0124", True),
        ("id", "GB0170", None),
        ("id", "GB9999", False),
        ("fact", "F2", True),
        ("fact", "F3", False),
        ("fact", "the first", None),
    ]
    assert verdicts(category="data-dependent") == {"data-dependent": True}
    assert verdicts(category="magic") == {"magic": False}
