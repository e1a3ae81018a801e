"""Python imports this by itself at the start of a program that `fullgraph run` runs.

Its folder is put on PYTHONPATH, which the program's own child processes inherit. It has to be
invisible: it takes its folder off sys.path again, hands over to the sitecustomize that the user
may have, and imports nothing of fullgraph until the program imports torch._dynamo.
"""

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


class _AfterDynamo:
    """Starts capturing when torch._dynamo has been imported, and is gone then."""

    @classmethod
    def find_spec(
        cls, name: str, path: Any = None, target: Any = None
    ) -> "importlib.machinery.ModuleSpec | None":
        if name != "torch._dynamo":
            return None
        sys.meta_path.remove(cls)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            _run_afterwards(spec.loader, _start)
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
        from fullgraph.capture.autostart import start
    except Exception as error:
        sys.stderr.write(
            f"fullgraph: nothing is captured in process {os.getpid()}: its Python "
            f"({sys.executable}) cannot load fullgraph ({error})\n"
        )
        return
    start()


if os.environ.get("FULLGRAPH_CAPTURE"):
    sys.meta_path.insert(0, _AfterDynamo)
_leave_no_trace()
