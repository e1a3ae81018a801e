"""Release numbers: what `2.15`, `2.13.0+cpu` and `2.8..2.15` mean."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fullgraph.errors import RegistryError

OLDEST = (2, 8)
_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")
_RANGE = re.compile(r"(.+?)\.\.\.?(.+)")


def base_of(version: str) -> str:
    """`2.13.0+cpu` is the release 2.13.0 built in some way."""
    return version.split("+")[0]


def sort_key(release: str) -> tuple[int, int, int, bool, str]:
    """Oldest first; `2.16.0a0` comes before `2.16.0`."""
    match = _RELEASE.match(release)
    if match is None:
        return (0, 0, 0, False, release)
    final = match.end() == len(release)
    return (int(match[1]), int(match[2]), int(match[3] or 0), final, release)


def minor_of(release: str) -> tuple[int, int]:
    return sort_key(release)[:2]


def is_release(text: str) -> bool:
    return _RELEASE.fullmatch(text) is not None


def choose(wanted: str, known: Iterable[str]) -> str | None:
    """The release that `wanted` means: itself, or for `2.9` the newest 2.9.x."""
    match = _RELEASE.fullmatch(wanted)
    if match is None:
        return None
    wanted = wanted.removeprefix("v")
    known = set(known)
    if match[3] is not None:
        return wanted if wanted in known else None
    same = [release for release in known if minor_of(release) == minor_of(wanted)]
    final = [release for release in same if sort_key(release)[3]]
    return max(final or same, key=sort_key, default=None)


def expand(wanted: str, known: Iterable[str]) -> list[str]:
    """The releases that `2.15`, `2.8,2.15.0` or `2.8..2.15` mean, oldest first."""
    known = list(known)
    found: set[str] = set()
    for part in filter(None, (part.strip() for part in wanted.split(","))):
        found |= set(_range(part, known) if ".." in part else [_one(part, known)])
    if not found:
        raise RegistryError(f"{wanted!r} names no release: say 2.15, or 2.8..2.15")
    return sorted(found, key=sort_key)


def _one(wanted: str, known: list[str]) -> str:
    if not is_release(wanted):
        raise RegistryError(f"{wanted!r} is not a release: say 2.15, 2.9.1 or 2.8..2.15")
    if minor_of(wanted) < OLDEST:
        raise RegistryError(f"torch {wanted} has no registry: it came with 2.8.0")
    release = choose(wanted, known)
    if release is None:
        newest = max(known, key=sort_key, default="none at all")
        raise RegistryError(f"there is no torch {wanted} (the newest that was found is {newest})")
    return release


def _range(wanted: str, known: list[str]) -> list[str]:
    match = _RANGE.fullmatch(wanted)
    ends = (match[1], match[2]) if match else ()
    if not ends or not all(map(is_release, ends)):
        raise RegistryError(f"{wanted!r} is not a range of releases: say 2.8..2.15")
    first, last = (_one(end, known) for end in ends)
    if sort_key(first) > sort_key(last):
        raise RegistryError(f"{wanted!r} ends before it starts: say {ends[1]}..{ends[0]}")
    minors = {minor_of(release) for release in known}
    inside = {minor for minor in minors if minor_of(first) < minor < minor_of(last)}
    between = [choose(f"{major}.{minor}", known) for major, minor in inside]
    return [first, *(release for release in between if release), last]
