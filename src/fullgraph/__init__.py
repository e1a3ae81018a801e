"""fullgraph: find, explain and fix what stops torch.compile from seeing a program as one graph.

Importing this package imports neither torch nor anything slow; each public name is loaded when
it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullgraph.capture.api import Watch, explain, watch
    from fullgraph.fix.api import compile  # noqa: A004  (torch.compile's name, on purpose)
    from fullgraph.model.report import Report

__version__ = "0.1.0"
__all__ = ["Report", "Watch", "__version__", "compile", "explain", "watch"]

_HOMES = {
    "watch": "fullgraph.capture.api",
    "explain": "fullgraph.capture.api",
    "compile": "fullgraph.fix.api",
    "Watch": "fullgraph.capture.api",
    "Report": "fullgraph.model.report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fullgraph' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
