from __future__ import annotations

import pytest

from fullgraph.errors import RegistryError
from fullgraph.registry.releases import base_of, choose, expand, sort_key

KNOWN = ["2.10.0", "2.8.0", "2.9.0", "2.9.1", "2.16.0a0", "2.11.0", "2.11.1"]


def test_order() -> None:
    assert sorted(KNOWN, key=sort_key)[:2] == ["2.8.0", "2.9.0"]
    assert sort_key("2.16.0a0") < sort_key("2.16.0")
    assert base_of("2.13.0+cpu") == "2.13.0"


@pytest.mark.parametrize(
    ("wanted", "release"),
    [("2.9", "2.9.1"), ("2.9.0", "2.9.0"), ("v2.8.0", "2.8.0"), ("2.12", None), ("latest", None)],
)
def test_choose(wanted: str, release: str | None) -> None:
    assert choose(wanted, KNOWN) == release


@pytest.mark.parametrize(
    ("wanted", "releases"),
    [
        ("2.10", ["2.10.0"]),
        ("2.8..2.11", ["2.8.0", "2.9.1", "2.10.0", "2.11.1"]),
        ("2.9.0..2.10", ["2.9.0", "2.10.0"]),
        ("2.8, 2.9.0", ["2.8.0", "2.9.0"]),
        ("2.8..2.8", ["2.8.0"]),
    ],
)
def test_expand(wanted: str, releases: list[str]) -> None:
    assert expand(wanted, KNOWN) == releases


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ("2.12", "there is no torch 2.12"),
        ("2.7", "it came with 2.8.0"),
        ("2.11..2.8", "ends before it starts"),
        ("2.8..", "not a range"),
        ("newest", "not a release"),
        (",", "names no release"),
    ],
)
def test_bad_releases(wanted: str, complaint: str) -> None:
    with pytest.raises(RegistryError, match=complaint):
        expand(wanted, KNOWN)
