"""Downloaded registries are kept with their age, and read again only if they can be trusted."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from fullgraph.errors import RegistryError
from fullgraph.folders import registry_cache_folder
from fullgraph.registry import cache
from fullgraph.registry.cache import Cached
from fullgraph.registry.entries import Snapshot

SNAPSHOT = Snapshot("2.9.0", {})
MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (-5, "less than a minute"),
        (30, "less than a minute"),
        (MINUTE + 1, "1 minute"),
        (59 * MINUTE + 1, "59 minutes"),
        (HOUR + 1, "1 hour"),
        (23 * HOUR + 1, "23 hours"),
        (DAY + 1, "1 day"),
        (3 * DAY + HOUR, "3 days"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, age: str) -> None:
    assert Cached(SNAPSHOT, time.time() - seconds).age() == age


def test_what_is_stored_is_loaded_by_its_name() -> None:
    assert cache.names() == []
    cached = Cached(SNAPSHOT, 12.5, etag='"one"', last_modified="yesterday")
    for name in ("mine", "2.9.0"):
        cache.store(name, cached)
    assert (cache.load("mine"), cache.load("other")) == (cached, None)
    # Unfinished and foreign files are no registries.
    for name in (".mine.json", "notes.txt"):
        (registry_cache_folder() / name).write_text("{}")
    assert cache.names() == ["2.9.0", "mine"]


def test_another_format_is_read_again() -> None:
    cache.store("mine", msgspec.structs.replace(Cached(SNAPSHOT, 0.0), format=0))
    assert cache.load("mine") is None


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "file"))
    with pytest.raises(RegistryError, match=r"cannot store the registry in .*; set FULLGRAPH_HOME"):
        cache.store("mine", Cached(SNAPSHOT, 0.0))
