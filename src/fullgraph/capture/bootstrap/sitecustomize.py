"""Python imports this by itself at the start of a program that `fullgraph run` runs.

Its folder is put on PYTHONPATH, which the program's own child processes inherit. It has to be
invisible: it takes its folder off sys.path again, hands over to the sitecustomize that the user
may have, and imports nothing of fullgraph until the program imports torch._dynamo.
"""

import importlib.machinery
import os
import sys


def _leave_no_trace():
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
    def find_spec(cls, name, path=None, target=None):
        if name != "torch._dynamo":
            return None
        sys.meta_path.remove(cls)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_start(module):
                del spec.loader.exec_module
                run(module)
                _start()

            spec.loader.exec_module = run_and_start
        return spec


def _start():
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
    import importlib.util

    sys.meta_path.insert(0, _AfterDynamo)
_leave_no_trace()
