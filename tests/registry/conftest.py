from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullgraph.registry import download
from tests.registry.fake_torch import Site, torch_files


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a PyTorch checkout with the files that the registry needs."""
    root = tmp_path / "pytorch"
    for name, content in torch_files().items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (root / "version.txt").write_text("2.99.0a0\n")
    return root


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(download, "RETRIES", download.RETRIES.new(backoff_factor=0))


@pytest.fixture
def site() -> Iterator[Site]:
    server = Site()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
