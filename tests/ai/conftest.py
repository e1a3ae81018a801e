"""A project with a session, and waits between tries that take no time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.ai import asking
from tests.ai.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pause(seconds: float) -> None:
        pass

    monkeypatch.setattr(asking, "pause", pause)
