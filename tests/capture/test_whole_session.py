"""The capture of a program with one of each is what `session.json` has.

After a change on purpose, `python -m tests.capture.whole_session` writes the file again.
"""

from __future__ import annotations

import sys
from difflib import unified_diff

import pytest
import torch

from fullgraph.registry.releases import base_of
from tests.capture.whole_session import EXPECTED, PYTHON, RELEASE, session


@pytest.mark.skipif(
    (base_of(torch.__version__), sys.version_info[:2]) != (RELEASE, PYTHON),
    reason=f"the expected events are those of torch {RELEASE} and Python {PYTHON}",
)
def test_every_event_of_a_program_is_the_expected_one() -> None:
    expected, found = EXPECTED.read_text("utf-8").splitlines(), session().splitlines()
    assert not list(unified_diff(expected, found, lineterm=""))
