"""Runs the small programs that fixers come with, for real."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from fullgraph.fix.fixers import Fixer
from fullgraph.fix.record.recorder import Call, Modes, Recorder, Target
from fullgraph.fix.search.accept import Peeled
from fullgraph.fix.search.search import Peeler
from fullgraph.fix.trials.fork import ForkShop

_SECONDS = 60.0


def load(source: str, folder: Path) -> Any:
    """The program as a module of its own, in a file of its own."""
    file = folder / "program.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(f"program_{id(file)}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(module: Any) -> Recorder:
    """The calls that the program says it is called with."""
    torch.manual_seed(0)
    target = Target("f", module.f, {})
    calls = [module.inputs(), *getattr(module, "more", tuple)()]
    recorder = Recorder(targets=[target])
    with torch.set_grad_enabled(getattr(module, "GRADIENTS", True)):
        for arguments in calls:
            recorder.calls.append(Call(target, tuple(arguments), {}, Modes.current()))
    return recorder


@contextmanager
def shop_for(source: str, folder: Path) -> Iterator[ForkShop]:
    with ForkShop(recorded(load(source, folder))) as shop:
        yield shop


def peel(source: str, folder: Path, *fixers: Fixer) -> Peeled:
    """What these fixers make of a program, proof included."""
    with shop_for(source, folder) as shop:
        peeler = Peeler(
            shop,
            deadline=time.monotonic() + _SECONDS,
            tell=lambda _: None,
            fixers=fixers or None,
        )
        return peeler.run()
