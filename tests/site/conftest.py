"""Fixtures for the tests of the site: one home and one built site."""

from __future__ import annotations

import copy
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullgraph.installed_torch import torch_folder
from fullgraph.registry.entries import REGISTRY_FILE
from fullgraph.registry.sources import require_installed
from fullgraph.site.build import build
from fullgraph.site.gather import gather
from fullgraph.site.model import SiteData
from fullgraph.site.pages import all_outputs
from fullgraph.site.settings import BuildPlan, make_plan
from tests.site.browsing import address, browser, hosted, visit  # noqa: F401
from tests.site.sitekit import Registry, SiteCli


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _own_home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the tests from downloads and settings of the user."""
    monkeypatch.setenv("FULLGRAPH_HOME", str(home))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def installed_site(home: Path) -> SiteData:
    """Return the data of the site of the installed torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FULLGRAPH_HOME", str(home))
        return gather(require_installed())


@pytest.fixture(scope="session")
def pages(installed_site: SiteData) -> dict[str, bytes]:
    """Return the files of the site of the installed torch, by path."""
    return {output.path: output.render() for output in all_outputs(installed_site)}


@pytest.fixture(scope="session")
def _built_once(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once for all processes of this run; the others wait for it."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, unfinished = shared / "built" / "site", shared / "unfinished" / "site"
    with (shared / "built.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        patch.setenv("FULLGRAPH_HOME", str(home))
        if not folder.exists():
            unfinished.parent.mkdir(exist_ok=True)
            build(require_installed(), _empty_plan(unfinished.parent), unfinished)
            unfinished.parent.rename(folder.parent)
    return folder


@pytest.fixture
def built(_built_once: Path, tmp_path: Path) -> Path:
    """Return a site of the installed torch that a test may change."""
    return Path(shutil.copytree(_built_once, tmp_path / "site"))


def _empty_plan(folder: Path) -> BuildPlan:
    return BuildPlan(make_plan().settings, None, folder / "info", None, None)


@pytest.fixture
def registry() -> Registry:
    """Return the entries of the installed registry, which a test may change."""
    torch = torch_folder()
    assert torch is not None
    entries: Registry = json.loads((torch / REGISTRY_FILE).read_bytes())
    return copy.deepcopy(entries)


@pytest.fixture
def site_cli(tmp_path: Path) -> Iterator[SiteCli]:
    cli = SiteCli(tmp_path)
    yield cli
    for process in cli.running:
        process.kill()
        process.wait()
