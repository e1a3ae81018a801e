"""The search for remedies, without a program."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

import pytest

from fullgraph.model.events import FORMAT_VERSION
from fullgraph.model.session import Header, Session
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.replay import Replayer
from fullgraph.recompiles.run_facts import RunFacts
from fullgraph.recompiles.search import Baseline, GroupSearch, RemedySearch, TimeLimits
from tests.recompiles.groups import group


class _Interrupted:
    def run(self, *_: Any, **__: Any) -> None:
        raise KeyboardInterrupt


def test_candidates_wait_again_after_an_interrupt() -> None:
    first, second = Candidate("a", config={"a": 1}), Candidate("b", config={"b": 1})
    search = GroupSearch(group(), [first, second])
    session = Session(Header(FORMAT_VERSION, "1"), ())
    later = time.monotonic() + 600
    remedies = RemedySearch(
        cast(Replayer, _Interrupted()),
        Baseline(RunFacts([session]), Path(), None),
        TimeLimits(later, later),
        lambda message: None,
    )
    with pytest.raises(KeyboardInterrupt):
        remedies.run([search])
    assert search.waiting == [first, second]
