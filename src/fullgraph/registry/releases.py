"""Release numbers of torch: parse, sort and select them (`2.15`, `2.13.0+cpu`, `2.8..2.15`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from fullgraph.errors import RegistryError
from fullgraph.installed_torch import OLDEST_TORCH, release_of

if TYPE_CHECKING:
    from packaging.version import Version

_RANGE = re.compile(r"(.+?)\.\.\.?(.+)")


def base_of(version: str) -> str:
    """Return a version without its build: `2.13.0` for `2.13.0+cpu`."""
    return version.split("+")[0]


@cache
def parse_release(name: str) -> Version | None:
    """Return the version that a name stands for, or None for a name such as `latest`."""
    # This module is loaded by commands that need no version.
    from packaging.version import InvalidVersion, Version

    try:
        version = Version(name)
    except InvalidVersion:
        return None
    return version if len(version.release) > 1 else None


def sort_key(name: str) -> tuple[Version, str]:
    """Return a key that sorts releases oldest first, after all names without a number."""
    from packaging.version import Version

    return parse_release(name) or Version("0"), name


def has_number(name: str) -> bool:
    """Check whether a name is a release number, final or not."""
    return parse_release(name) is not None


def is_final(name: str) -> bool:
    """Check whether a name is the number of a final release, unlike `2.16.0a0`."""
    version = parse_release(name)
    return version is not None and not version.is_prerelease


def is_release(text: str) -> bool:
    """Check whether a text is `2.15`, `2.15.0` or `v2.15.0`."""
    version = parse_release(text)
    if version is None or len(version.release) > 3:
        return False
    return version.base_version == text.removeprefix("v")


def choose(wanted: str, known: Iterable[str]) -> str | None:
    """Return the release that `wanted` means: itself, or for `2.9` the newest 2.9.x.

    None means that no known release matches.
    """
    if not is_release(wanted):
        return None
    wanted = wanted.removeprefix("v")
    known = set(known)
    if wanted.count(".") > 1:
        return wanted if wanted in known else None
    same = [release for release in known if release_of(release) == release_of(wanted)]
    final = [release for release in same if is_final(release)]
    return max(final or same, key=sort_key, default=None)


def expand(wanted: str, known: Iterable[str]) -> list[str]:
    """Return the releases that `2.15`, `2.8,2.15.0` or `2.8..2.15` mean, oldest first."""
    known = list(known)
    found: set[str] = set()
    for part in filter(None, (part.strip() for part in wanted.split(","))):
        found |= set(_releases_between(part, known) if ".." in part else [_release(part, known)])
    if not found:
        raise RegistryError(f"{wanted!r} names no release; use for example 2.15 or 2.8..2.15")
    return sorted(found, key=sort_key)


def _release(wanted: str, known: list[str]) -> str:
    if not is_release(wanted):
        raise RegistryError(
            f"{wanted!r} is not a release; use for example 2.15, 2.9.1 or 2.8..2.15"
        )
    require_registry(wanted)
    release = choose(wanted, known)
    if release is None:
        newest = max(known, key=sort_key, default="none")
        raise RegistryError(f"torch {wanted} was not found; the newest available is {newest}")
    return release


def require_registry(release: str) -> None:
    """Raise an error for a release from before the graph-break registry existed."""
    if release_of(release.removeprefix("v")) < OLDEST_TORCH:
        raise RegistryError(f"torch {release} has no registry; use 2.8 or later")


def _releases_between(wanted: str, known: list[str]) -> list[str]:
    """Return both ends of a range and the newest release of each minor version between them."""
    match = _RANGE.fullmatch(wanted)
    ends = (match[1], match[2]) if match else ()
    if not ends or not all(map(is_release, ends)):
        raise RegistryError(f"{wanted!r} is not a range of releases; use for example 2.8..2.15")
    first, last = (_release(end, known) for end in ends)
    if sort_key(first) > sort_key(last):
        raise RegistryError(f"{wanted!r} ends before it starts; use {ends[1]}..{ends[0]}")
    minors = {release_of(release) for release in known}
    inside = {minor for minor in minors if release_of(first) < minor < release_of(last)}
    between = [choose(f"{major}.{minor}", known) for major, minor in inside]
    return [first, *(release for release in between if release), last]
