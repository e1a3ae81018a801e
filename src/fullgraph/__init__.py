"""Find, explain and fix the graph breaks of torch.compile.

`docs/api.md` lists the public names. Importing this package imports neither torch nor anything
slow; each public name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullgraph.capture.api import Watch, explain, watch
    from fullgraph.errors import FullgraphError
    from fullgraph.fix.api import compile  # noqa: A004  (torch.compile's name, on purpose)
    from fullgraph.model.report import Report, load_report
    from fullgraph.model.session import Session
    from fullgraph.model.session import load as load_session

__version__ = "0.1.0"
__all__ = [
    "FullgraphError",
    "Report",
    "Session",
    "Watch",
    "__version__",
    "compile",
    "explain",
    "load_report",
    "load_session",
    "watch",
]

# Public name → the module that defines it and the name there.
_DEFINED_IN = {
    "FullgraphError": ("fullgraph.errors", "FullgraphError"),
    "Report": ("fullgraph.model.report", "Report"),
    "Session": ("fullgraph.model.session", "Session"),
    "Watch": ("fullgraph.capture.api", "Watch"),
    "compile": ("fullgraph.fix.api", "compile"),
    "explain": ("fullgraph.capture.api", "explain"),
    "load_report": ("fullgraph.model.report", "load_report"),
    "load_session": ("fullgraph.model.session", "load"),
    "watch": ("fullgraph.capture.api", "watch"),
}


def __getattr__(name: str) -> Any:
    if name not in _DEFINED_IN:
        raise AttributeError(f"module 'fullgraph' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _DEFINED_IN[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
