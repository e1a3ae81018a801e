"""Builds what inductor builds once per machine or per process, before anything is measured."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import torch

from fullgraph.fix.trials.compiled import trial_options

# Where inductor keeps what it has compiled.
CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"


def warm_up_inductor(folder: Path) -> None:
    """Compile something small, so that a compile that is measured does not pay for the first one.

    Inductor finds out what the processor can do, which takes seconds without the user's own cache,
    and precompiles headers. `folder` gets the rest.
    """
    options = trial_options({}, "inductor")
    with suppress(Exception):
        import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(folder)
    # Without a compiler for C++, every choice fails in the same way, and its row says so.
    with suppress(Exception):
        torch.compile(lambda x: x.sin().sum(), **options)(torch.ones(64))
    torch._dynamo.reset()
    if before is None:
        del os.environ[CACHE_VARIABLE]
    else:
        os.environ[CACHE_VARIABLE] = before
