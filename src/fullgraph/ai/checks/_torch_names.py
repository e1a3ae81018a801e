"""Which names and settings this torch has.

Importing torch takes seconds, so a name is looked up in torch's files first. What they do not
confirm is asked of torch itself, in another process, and only once for all names of an answer.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from fullgraph.ai.checks._module_names import has_name, members_of, module_files, read
from fullgraph.installed_torch import torch_folder, torch_version

# Modules whose names are settings.
_SETTINGS = (
    "torch._dynamo.config",
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.compiler.config",
    "torch.fx.experimental._config",
)
# Reads names from its input, and writes for each whether torch has it. It calls nothing.
_PROGRAM = """
import importlib, json, sys
import torch

def has(name):
    value, path = torch, "torch"
    for piece in name.split(".")[1:]:
        path += "." + piece
        try:
            value = getattr(value, piece)
        except AttributeError:
            try:
                value = importlib.import_module(path)
            except ImportError:
                return False
    return True

answers = {}
for name in json.load(sys.stdin):
    try:
        answers[name] = has(name)
    except Exception:
        answers[name] = None
json.dump(answers, sys.__stdout__)
"""
_SECONDS = 120


class TorchNames:
    """Looks names up in the installed torch."""

    def __init__(self) -> None:
        self._folder = torch_folder()
        self._known: dict[str, bool | None] = {}

    @property
    def release(self) -> str:
        """Return `torch 2.13.0`."""
        version = torch_version()
        return f"torch {version.partition('+')[0]}" if version else "torch"

    def learn(self, names: Iterable[str]) -> None:
        """Find out whether torch has some names, all at once."""
        unknown = [name for name in dict.fromkeys(names) if name and name not in self._known]
        asked = []
        for name in unknown:
            if self._is_in_files(name):
                self._known[name] = True
            else:
                asked.append(name)
        if asked:
            self._known |= _ask_torch(asked) if self._folder else dict.fromkeys(asked)

    def has(self, name: str) -> bool | None:
        """Return whether torch has a name such as `torch.nn.Linear`; None if that is not known."""
        if name not in self._known:
            self.learn([name])
        return self._known[name]

    def _is_in_files(self, name: str) -> bool:
        if self._folder is None:
            return False
        pieces = tuple(name.split("."))
        if pieces[:2] == ("torch", "Tensor") and len(pieces) == 3:
            files = ((self._folder / "_tensor.py", "Tensor"),
                     (self._folder / "_C" / "__init__.pyi", "TensorBase"))  # fmt: skip
            return any(pieces[2] in members_of(file, class_) for file, class_ in files)
        return has_name(self._folder.parent, pieces)

    def has_setting(self, name: str) -> bool:
        """Return whether a setting exists; without a module, in one of the usual ones."""
        if not name.startswith("torch."):
            short = name.removeprefix("config.")
            return any(self.has_setting(f"{each}.{short}") for each in _SETTINGS)
        module, _, setting = name.rpartition(".")
        text = self._text_of(module)
        if text is None:
            # A setting of a group, such as torch._inductor.config.triton.cudagraphs.
            outer, _, group = module.rpartition(".")
            body = self._text_of(outer) or ""
            found = re.search(rf"^class {re.escape(group)}\b.*?(?=^\S|\Z)", body, re.M | re.S)
            text = found[0] if found else ""
        return bool(re.search(rf"^[ \t]*(?:class )?{re.escape(setting)}\b[ \t]*[:=]", text, re.M))

    def is_setting_name(self, name: str) -> bool:
        """Return whether a name is one of a module of settings."""
        return any(name == each or name.startswith(f"{each}.") for each in _SETTINGS)

    def reads_variable(self, name: str) -> bool:
        """Return whether torch's configuration reads an environment variable."""
        texts = [self._text_of(module) or "" for module in (*_SETTINGS, "torch._logging._internal")]
        if any(re.search(rf"[\"']{re.escape(name)}[\"']", text) for text in texts):
            return True
        variable = re.fullmatch(r"TORCH(?:DYNAMO|INDUCTOR)_(\w+)", name)
        return variable is not None and self.has_setting(variable[1].lower())

    def in_python(self, name: str) -> bool | None:
        """Return whether Python's library has a name; None if that is not known."""
        start = name.partition(".")[0]
        if start not in sys.stdlib_module_names:
            return None
        if start in sys.modules:
            return _has_attribute(sys.modules[start], name.split(".")[1:])
        spec = importlib.util.find_spec(start)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        file = Path(spec.origin)
        root = file.parent.parent if file.name == "__init__.py" else file.parent
        return has_name(root, tuple(name.split("."))) or None

    def _text_of(self, module: str) -> str | None:
        if self._folder is None:
            return None
        files = module_files(self._folder.parent.joinpath(*module.split(".")))
        return read(files[0]) if files else None


def _has_attribute(module: object, names: list[str]) -> bool | None:
    value = module
    for name in names:
        try:
            value = getattr(value, name)
        except Exception:
            # A submodule is an attribute only after it has been imported.
            return None if _has_submodule(value, name) else False
    return True


def _has_submodule(value: object, name: str) -> bool:
    folders = getattr(value, "__path__", ())
    return any((Path(each) / name).is_dir() or (Path(each) / f"{name}.py").is_file()
               for each in folders)  # fmt: skip


def _ask_torch(names: list[str]) -> dict[str, bool | None]:
    """Return for each name whether torch has it; None where torch does not say."""
    unknown: dict[str, bool | None] = dict.fromkeys(names)
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        return {name: _has_attribute(torch, name.split(".")[1:]) for name in names}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps(names),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        answers = json.loads(done.stdout.strip().split("\n")[-1])
    except (OSError, subprocess.SubprocessError, ValueError):
        return unknown
    return unknown | {name: answers.get(name) for name in names}
