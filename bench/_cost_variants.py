"""Time a program of `bench/cost_programs` with and without each of its causes, call by call.

    python -m bench._cost_variants PROGRAM [NAME]...

The variants are in one process and take turns, so that a slow moment hits all of them. Each has
code objects of its own. Prints the median of a steady call of the whole program, and without each
named cause, in milliseconds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_WARM_UP = 5


class Variant(NamedTuple):
    """The call of a program that was loaded with some causes left out."""

    call: Callable[[], object]
    calls: int
    is_grad_enabled: bool


def load_variant(program: Path, without: Sequence[str]) -> Variant:
    """Load a program up to its timed calls."""
    import torch

    work: Any = sys.modules["_work"]
    loaded: list[Variant] = []
    # The programs call this function last.
    work.time_calls = lambda call, calls: loaded.append(
        Variant(call, calls, torch.is_grad_enabled())
    )
    sys.argv = [str(program), *(["--without", ",".join(without)] if without else [])]
    exec(compile(program.read_text(), str(program), "exec"), {"__name__": "__main__"})
    return loaded[0]


def time_variants(variants: Sequence[Variant]) -> list[float]:
    """Return the median of the steady calls of each variant, in milliseconds."""
    for variant in variants:
        for _ in range(_WARM_UP):
            _time(variant)
    rounds = [[_time(variant) for variant in variants] for _ in range(variants[0].calls)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _time(variant: Variant) -> float:
    import torch

    with torch.set_grad_enabled(variant.is_grad_enabled):
        started = time.perf_counter()
        variant.call()
        return (time.perf_counter() - started) * 1000


def main(program: Path, names: Sequence[str]) -> None:
    """Print the times of a program as one line of JSON."""
    sys.path.insert(0, str(program.parent))
    __import__("_work")
    variants = [load_variant(program, without) for without in [[], *([name] for name in names)]]
    whole, *others = time_variants(variants)
    print(json.dumps({"whole": whole, "without": dict(zip(names, others, strict=True))}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
