"""Compiles a target of the program for a trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fullgraph.fix.record.recorder import CompiledTarget


def compile_target(target: CompiledTarget, backend: str) -> Callable[..., Any]:
    """Return the target compiled with the program's options; `backend` replaces its backend."""
    options = trial_options(target.options, backend)
    function: Callable[..., Any] = torch.compile(target.original, **options)
    return function


def trial_options(options: dict[str, Any], backend: str) -> dict[str, Any]:
    """Return the options of `torch.compile` for a trial; `backend` replaces the program's own.

    `fullgraph=True` is left out: a trial counts breaks instead of raising at the first.
    """
    kept = {name: value for name, value in options.items() if name != "fullgraph"}
    if "inductor" in (backend, kept.get("backend", "inductor")):
        from torch._inductor import config

        # Inductor's own random numbers differ from eager mode's; its processes outlive a fork.
        config.fallback_random = True
        config.compile_threads = 1
    if backend:
        kept = {name: value for name, value in kept.items() if name == "dynamic"}
        kept["backend"] = backend
    return kept
