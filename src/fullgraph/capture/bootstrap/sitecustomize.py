"""Starts capturing in a program that `fullgraph run` runs: Python imports this file at startup.

Its folder is on PYTHONPATH, which child processes of the program inherit. The program must not
notice it. Therefore it removes its folder from sys.path, runs the user's own sitecustomize, and
imports nothing of fullgraph until the program imports torch._dynamo.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any


def _remove_from_path() -> None:
    """Remove this folder from sys.path and run the user's own sitecustomize."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class _AfterImport:
    """A meta path finder that calls a function after a module has been imported, once."""

    def __init__(self, name: str, action: Any) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> "importlib.machinery.ModuleSpec | None":
        """Return the spec of the module that is waited for, and run the action after its import."""
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            _run_afterwards(spec.loader, self._action)
        return spec


def _run_afterwards(loader: Any, action: Any) -> None:
    """Make `loader` call `action` after it has executed the module."""
    run = loader.exec_module

    def run_then_act(module: Any) -> None:
        del loader.exec_module
        run(module)
        action()

    loader.exec_module = run_then_act


def _start() -> None:
    try:
        _import_isolated("fullgraph.capture.child_process").start(_FOLDER)
    except Exception as error:
        _write_problem(error)


def _apply_fixes() -> None:
    try:
        _import_isolated("fullgraph.fix.runtime.activate").start(_PLAN)
    except Exception as error:
        sys.stderr.write(f"fullgraph: running without fixes: {error}\n")


def _import_isolated(name: str) -> Any:
    """Import a module of fullgraph even if the program has a file of the same name."""
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


def _write_problem(error: Exception) -> None:
    """Write a session with a fatal problem, without using fullgraph, which failed."""
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


def _watch_children() -> None:
    """Note child processes that are not captured; called while this folder is on sys.path."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        importlib.import_module("_fullgraph_children").ChildProcesses(_FOLDER, here).watch()
    except Exception as error:
        sys.stderr.write(f"fullgraph: child processes are not watched: {error}\n")


# Read here because the program may change its environment before it imports torch.
_FOLDER = os.environ.get("FULLGRAPH_CAPTURE", "")
_PLAN = os.environ.get("FULLGRAPH_PLAN", "")
if _FOLDER:
    _watch_children()
_remove_from_path()
_PATH = sys.path[:]
if _FOLDER:
    sys.meta_path.insert(0, _AfterImport("torch._dynamo", _start))
if _PLAN:
    sys.meta_path.insert(0, _AfterImport("torch", _apply_fixes))
