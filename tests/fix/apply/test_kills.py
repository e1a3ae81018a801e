"""A process that is killed while it writes or reverts files: all are written, or none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from bench._kills import Stage

# In a process without torch, whose forks are cheap.
PROGRAM = """\
import json, sys
from pathlib import Path
from bench._kills import Files

files = Files(Path(sys.argv[1]), count=2, lines=1)
found = [(each.is_right, each.killed, str(each)) for each in files.kill_at_each(sys.argv[2])]
print(json.dumps(found))
"""


@pytest.mark.parametrize("stage", get_args(Stage))
def test_a_kill_at_any_operation_leaves_all_files_or_none(tmp_path: Path, stage: Stage) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), stage]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) > 20
    assert [text for is_right, _, text in found if not is_right] == []
    # Some kills came when one file was written and the other was not.
    assert {"on", "no"} & {killed for _, killed, _ in found}
