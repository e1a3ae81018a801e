"""Python imports this by itself at the start of a program that `fullgraph run` runs.

Its folder is put on PYTHONPATH, which the program's own child processes inherit. It has to be
invisible: it takes its folder off sys.path again, hands over to the sitecustomize that the user
may have, and imports nothing of fullgraph until the program imports torch._dynamo.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any


def _leave_no_trace() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class _AfterImport:
    """Does something when a module has been imported, and is gone then."""

    def __init__(self, name: str, action: Any) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> "importlib.machinery.ModuleSpec | None":
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            _run_afterwards(spec.loader, self._action)
        return spec


def _run_afterwards(loader: Any, action: Any) -> None:
    """Have `loader` call `action` once the module is there, and forget about it."""
    run = loader.exec_module

    def run_then_act(module: Any) -> None:
        del loader.exec_module
        run(module)
        action()

    loader.exec_module = run_then_act


def _start() -> None:
    try:
        _import_our_own("fullgraph.capture.child_process").start(_FOLDER)
    except Exception as error:
        _tell_that_nothing_is_captured(error)


def _mend() -> None:
    try:
        _import_our_own("fullgraph.fix.runtime.activate").start(_PLAN)
    except Exception as error:
        sys.stderr.write(f"fullgraph: the program runs as it is, not mended: {error}\n")


def _import_our_own(name: str) -> Any:
    """Import as if the program were not there: a file of its own may have the same name."""
    path, ours = sys.path[:], ("fullgraph", "msgspec")
    theirs = {
        key: sys.modules.pop(key)
        for key in list(sys.modules)
        if key.split(".", 1)[0] in ours and not _is_installed(sys.modules[key.split(".", 1)[0]])
    }
    sys.path[:] = _PATH
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = path
        if theirs:
            for key in [key for key in sys.modules if key.split(".", 1)[0] in ours]:
                del sys.modules[key]
            sys.modules.update(theirs)


def _is_installed(module: Any) -> bool:
    folder = os.path.dirname(os.path.dirname(getattr(module, "__file__", None) or ""))
    return folder in _PATH


def _tell_that_nothing_is_captured(error: Exception) -> None:
    """With Python's own means, as ours are what failed."""
    import json

    message = f"nothing is captured in process {os.getpid()} ({sys.executable}): {error}"
    lines = (
        {"event": "header", "format": 1, "fullgraph": "", "process": os.getpid()},
        {"event": "problem", "message": message, "fatal": True},
        {"event": "end", "seconds": 0},
    )
    try:
        with open(os.path.join(_FOLDER, f"9-{os.getpid()}.jsonl"), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    except OSError:
        sys.stderr.write(f"fullgraph: {message}\n")


# Read now: the program may change its environment before it imports torch.
_FOLDER = os.environ.get("FULLGRAPH_CAPTURE", "")
_PLAN = os.environ.get("FULLGRAPH_PLAN", "")
_leave_no_trace()
_PATH = sys.path[:]
if _FOLDER:
    sys.meta_path.insert(0, _AfterImport("torch._dynamo", _start))
if _PLAN:
    sys.meta_path.insert(0, _AfterImport("torch", _mend))
