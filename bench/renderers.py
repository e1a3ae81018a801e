"""Render 10,000 generated reports and fix reports in every format, and count the crashes."""

from __future__ import annotations

import time
from collections import Counter
from random import Random

from fullgraph.render import formats
from tests.render.generated import ALL_OPTIONS, KINDS, complaints, generate

RESULTS = 10_000
_MOST_SHOWN = 10


def main() -> bool:
    """Print the numbers of results, formats and crashes; return whether there is no crash."""
    started = time.perf_counter()
    random = Random(0)
    found: Counter[str] = Counter()
    rendered = 0
    kinds = sorted(KINDS)
    for number in range(RESULTS):
        kind = kinds[number % len(kinds)]
        result = generate(KINDS[kind], random)
        # Each option has its turn, in another combination with the results.
        for options in random.sample(ALL_OPTIONS, 3):
            rendered += len(formats(kind))
            found.update(complaints(kind, result, options))
    for complaint, number in found.most_common(_MOST_SHOWN):
        print(f"  {number} times: {complaint}")
    shown = ", ".join(f"{kind} as {'/'.join(formats(kind))}" for kind in kinds)
    seconds = time.perf_counter() - started
    print(
        f"renderers: {RESULTS} results ({shown}), {rendered} texts in {seconds:.0f} s, "
        f"{sum(found.values())} crashes or unprintable texts (at most 0)"
    )
    return not found
