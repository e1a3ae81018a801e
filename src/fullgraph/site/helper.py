"""The first build works out much that has nothing to do with the registry: the catalog, our own
texts, the templates. Where there is a second processor, a second process does that meanwhile and
leaves it in `memory.py`; where it fails, the build does it by itself.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from fullgraph.registry.taxonomy import CATEGORIES
from fullgraph.site.memory import CATEGORY_HEADING, Renderings, all_examples


class Helper:
    """A process that fills the memory, if there is anything to fill it with."""

    def __init__(self) -> None:
        self._process = _fork() if _is_worth_it() else None

    def wait(self) -> None:
        if self._process is not None:
            with suppress(ChildProcessError):
                os.waitpid(self._process, 0)
            self._process = None


def _is_worth_it() -> bool:
    """Not where other threads could hold a lock that the new process waits for in vain."""
    several = hasattr(os, "fork") and (os.cpu_count() or 1) > 1
    return several and threading.active_count() == 1 and not Renderings().are_known


def _fork() -> int | None:
    import jinja2  # noqa: F401  # both will need it, and it takes a while

    process = os.fork()
    if process:
        return process
    try:
        _work()
    finally:
        # Nothing of the build's own, such as what is to be written yet, must happen twice.
        os._exit(0)


def _work() -> None:
    with suppress(Exception):
        all_examples()
        from fullgraph.site.templating import compile_templates

        compile_templates()
        renderings = Renderings()
        for category in CATEGORIES:
            renderings(category.page, CATEGORY_HEADING)
        renderings.save()
