"""Compiles a target of the program for a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch

from fullgraph.fix.record.recorder import CompiledTarget

Compiled = Callable[..., Any]


class SharedTraces:
    """A backend that compiles each graph with several backends; `active` says which one runs.

    What Dynamo traces does not depend on the backend, so one trace is enough for all of them.
    """

    def __init__(self, backends: Sequence[str]) -> None:
        self._backends = backends
        self.active = backends[0]
        # How many graphs were compiled.
        self.graphs = 0

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Compiled:
        self.graphs += 1
        made = {name: lookup_backend(name)(graph, inputs) for name in self._backends}

        def run(*arguments: Any) -> Any:
            return made[self.active](*arguments)

        return run


def lookup_backend(backend: Any) -> Compiled:
    """Return the function of a backend that is given by its name or as a function."""
    return cast(Compiled, torch._dynamo.lookup_backend(backend))


def own_backend(target: CompiledTarget) -> str:
    """Return the name of the program's own backend; a backend without a name gets one."""
    backend = target.options.get("backend", "inductor")
    return backend if isinstance(backend, str) else getattr(backend, "__name__", "own backend")


def compile_target(
    target: CompiledTarget, backend: str, shared: SharedTraces | None = None
) -> Compiled:
    """Return the target compiled with the program's options; `backend` replaces its backend.

    With `shared`, that is the backend.
    """
    options = trial_options(target.options, backend)
    if shared is not None:
        options["backend"] = shared
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
