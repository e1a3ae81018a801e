from __future__ import annotations

import pytest

from fullgraph.errors import RegistryError
from fullgraph.registry.releases import (
    base_of,
    choose,
    expand,
    has_number,
    is_final,
    is_release,
    sort_key,
)

KNOWN = ["2.10.0", "2.8.0", "2.9.0", "2.9.1", "2.16.0a0", "2.11.0", "2.11.1"]


def test_order() -> None:
    assert sorted(KNOWN, key=sort_key)[:2] == ["2.8.0", "2.9.0"]
    assert sort_key("2.16.0a0") < sort_key("2.16.0")
    assert base_of("2.13.0+cpu") == "2.13.0"


def test_names_that_are_not_final_releases() -> None:
    names = ("2.9.0", "2.16.0a0", "2.9.0.dev1", "latest", "7")
    assert [name for name in names if is_final(name)] == ["2.9.0"]
    assert [has_number(name) for name in ("2.16.0a0", "latest", "7")] == [True, False, False]
    assert [is_release(name) for name in ("2.9", "v2.9.1", "2.16.0a0", "2", "2.9.0.0.1")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert sorted(["2.8.0", "latest"], key=sort_key) == ["latest", "2.8.0"]


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
        ("2.12", "torch 2.12 was not found"),
        ("2.7", "use 2.8 or later"),
        ("v2.7", "use 2.8 or later"),
        ("2.11..2.8", "ends before it starts"),
        ("2.8..", "not a range"),
        ("newest", "not a release"),
        (",", "names no release"),
    ],
)
def test_bad_releases(wanted: str, complaint: str) -> None:
    with pytest.raises(RegistryError, match=complaint):
        expand(wanted, KNOWN)
