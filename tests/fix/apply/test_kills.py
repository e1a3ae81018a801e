"""A process that is killed while it writes or reverts files: all are written, or none."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from bench._kills import Files, Stage


@pytest.mark.parametrize("stage", get_args(Stage))
def test_a_kill_at_any_operation_leaves_all_files_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    # `Files` sets it for the processes that it forks.
    monkeypatch.setenv("FULLGRAPH_HOME", "")
    found = list(Files(tmp_path, count=2, lines=1).kill_at_each(stage))
    assert len(found) > 20
    assert [each for each in found if not each.is_right] == []
    # Some kills came when one file was written and the other was not.
    assert {"on", "no"} & {each.killed for each in found}
