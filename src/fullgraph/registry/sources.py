"""Where a registry can come from: the installed torch, a release, a file, an address, a checkout.

The installed torch is the default; it needs neither a network nor torch's import.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fullgraph.errors import FullgraphError, RegistryError
from fullgraph.installed_torch import torch_folder
from fullgraph.registry import cache
from fullgraph.registry.entries import (
    HINTS_FILE,
    REGISTRY_FILE,
    Snapshot,
    SourceText,
    UnmappedCall,
    checksum_of,
    read_registry,
)
from fullgraph.registry.history import Chronicle, Facts, facts_of, known_facts
from fullgraph.registry.releases import base_of, choose, expand, is_release, minor_of, sort_key

if TYPE_CHECKING:
    from fullgraph.registry.download import Fetcher
    from fullgraph.registry.package_index import Wheel

Tell = Callable[[str], None]
_VERSION = re.compile(r"^__version__ = ['\"]([^'\"]+)['\"]", re.MULTILINE)
_NAME = re.compile(r"[\w.+-]{1,60}")


def _quiet(_: str) -> None:
    pass


# The installed torch


def installed_version(torch: Path) -> str:
    """What torch says it is, without importing it."""
    try:
        match = _VERSION.search((torch / "version.py").read_text())
    except OSError:
        match = None
    return match[1] if match else "unknown"


def installed_snapshot() -> Snapshot | None:
    """The registry of the torch that is installed; None without a torch that has one."""
    torch = torch_folder()
    if torch is None:
        return None
    version = installed_version(torch)
    try:
        data = (torch / REGISTRY_FILE).read_bytes()
    except OSError:
        return None  # it came with torch 2.8.0
    checksum = checksum_of(data)
    entries = read_registry(data, f"the registry of torch {version}", unknown_fields=True)
    facts = known_facts().get(base_of(version))
    if facts is not None and facts.checksum == checksum:
        sites = {name: entry.sites for name, entry in facts.entries.items() if entry.live}
        unmapped = tuple(UnmappedCall(type="", site=site) for site in facts.unmapped)
        return Snapshot(base_of(version), entries, sites, unmapped, {}, checksum, "installed")
    # Not a release that we know: its source tells.
    return _read_once(torch, version, checksum)


def with_texts(snapshot: Snapshot) -> Snapshot:
    """The same with what the source says where the registry does not, for all entries at once."""
    torch = torch_folder()
    if snapshot.texts or snapshot.origin != "installed" or torch is None:
        return snapshot
    found = _read_once(torch, installed_version(torch), snapshot.checksum).texts
    # An entry of which the source says nothing either must not be looked for again.
    nothing = dict.fromkeys(snapshot.entries, SourceText())
    return msgspec.structs.replace(snapshot, texts={**nothing, **found})


def _read_once(torch: Path, version: str, checksum: str) -> Snapshot:
    """The installed torch with what its source tells, which takes a second the first time."""
    cached = cache.load(f"installed-{version}")
    if cached is not None and cached.snapshot.checksum == checksum:
        return cached.snapshot
    snapshot = snapshot_of_folder(torch, base_of(version), "installed")
    # A home that cannot be written to costs a second each time, and nothing else.
    with suppress(FullgraphError):
        cache.store(f"installed-{version}", cache.Cached(snapshot, time.time()))
    return snapshot


def read_again(snapshot: Snapshot) -> Snapshot:
    """A snapshot with the types of its calls: facts have only their places."""
    torch = torch_folder()
    if snapshot.origin != "installed" or torch is None:
        return snapshot
    return snapshot_of_folder(torch, snapshot.release, snapshot.origin)


def require_installed() -> Snapshot:
    """The installed torch's registry, or the newest that was fetched."""
    snapshot = installed_snapshot() or newest_cached()
    if snapshot is None:
        raise nothing_here()
    return snapshot


def nothing_here() -> RegistryError:
    torch = torch_folder()
    why = "there is no registry to look in: install torch"
    if torch is not None:
        why = f"the installed torch {installed_version(torch)} has no registry: use 2.8 or later"
    return RegistryError(f"{why}, or fetch one with fullgraph registry sync --releases 2.15")


# Reading a source


def snapshot_of_files(
    files: dict[str, bytes], release: str, origin: str, *, unknown_fields: bool = True
) -> Snapshot:
    """A registry with the source beside it; paths start with `torch/`."""
    from fullgraph.registry.liveness import calls_in, map_calls, shared_hints, texts_of

    data = files[f"torch/{REGISTRY_FILE}"]
    entries = read_registry(data, origin, unknown_fields=unknown_fields)
    shared = shared_hints(files.get(HINTS_FILE, b"").decode(errors="replace"))
    calls = []
    for path, content in sorted(files.items()):
        if path.endswith(".py"):
            try:
                calls += calls_in(content.decode(errors="replace"), path, shared)
            except SyntaxError as error:
                raise RegistryError(f"{origin}: cannot read {path}: {error}") from None
    sites, unmapped = map_calls(calls, entries)
    texts = texts_of(calls, sites, entries)
    return Snapshot(release, entries, sites, unmapped, texts, checksum_of(data), origin)


def source_text(identifier: str, snapshot: Snapshot) -> SourceText:
    """What the source adds to an entry; of the installed torch it is read when asked for."""
    if identifier in snapshot.texts or snapshot.origin != "installed":
        return snapshot.texts.get(identifier, SourceText())
    torch = torch_folder()
    if torch is None:
        return SourceText()
    from fullgraph.registry.liveness import calls_in, shared_hints, texts_of

    sites = {identifier: (snapshot.sites or {}).get(identifier, ())}
    calls = []
    try:
        shared = shared_hints((torch.parent / HINTS_FILE).read_text())
        for file in {site.file for site in sites[identifier]}:
            calls += calls_in((torch.parent / file).read_text(), file, shared)
    except (OSError, SyntaxError, ValueError):
        return SourceText()
    return texts_of(calls, sites, snapshot.entries).get(identifier, SourceText())


def snapshot_of_folder(torch: Path, release: str, origin: str) -> Snapshot:
    """A torch that lies in a folder, installed or checked out."""
    files = {
        path.relative_to(torch.parent).as_posix(): path.read_bytes()
        for path in (torch / "_dynamo").rglob("*.py")
    }
    files[f"torch/{REGISTRY_FILE}"] = (torch / REGISTRY_FILE).read_bytes()
    return snapshot_of_files(files, release, origin, unknown_fields=origin == "installed")


def snapshot_of_path(path: Path, name: str = "") -> Snapshot:
    """A registry file, a wheel, or a folder that is a checkout or holds a torch."""
    if path.is_dir():
        for torch in (path / "torch", path):
            if (torch / REGISTRY_FILE).is_file():
                return snapshot_of_folder(torch, name or _checkout_version(torch), str(path))
        raise RegistryError(f"{path} is not a PyTorch checkout: it has no torch/{REGISTRY_FILE}")
    if path.suffix == ".whl":
        from fullgraph.registry.download import Fetcher
        from fullgraph.registry.wheels import read_wheel

        release = base_of(path.name.split("-")[1]) if path.name.startswith("torch-") else path.stem
        return snapshot_of_files(read_wheel(str(path), Fetcher()), name or release, str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RegistryError(f"cannot read {path}: {error.strerror}") from None
    return _bare_snapshot(data, name or "latest", str(path))


def _checkout_version(torch: Path) -> str:
    try:
        version = base_of((torch.parent / "version.txt").read_text().strip())
    except (OSError, UnicodeDecodeError):
        version = base_of(installed_version(torch))
    return version if version != "unknown" and _NAME.fullmatch(version) else "checkout"


def _bare_snapshot(data: bytes, name: str, origin: str) -> Snapshot:
    return Snapshot(name, read_registry(data, origin), None, (), {}, checksum_of(data), origin)


# Fetching


def sync_address(
    address: str, name: str = "latest", tell: Tell = _quiet, *, fall_back: bool = True
) -> Snapshot:
    """The registry at an address, or the one that was there when it last answered."""
    from fullgraph.registry.download import Fetcher, UnreachableError, shown

    cached = cache.load(name)
    if cached is not None and cached.snapshot.origin != shown(address):
        cached = None
    conditions = {}
    if cached is not None and cached.etag:
        conditions["If-None-Match"] = cached.etag
    if cached is not None and cached.last_modified:
        conditions["If-Modified-Since"] = cached.last_modified
    try:
        reply = Fetcher().get(address, **conditions)
        if cached is None or reply.status != 304:
            snapshot = _bare_snapshot(reply.data, name, shown(address))
        else:
            snapshot = cached.snapshot
            tell(f"{shown(address)} has not changed for {cached.age()}")
    except UnreachableError as error:
        if cached is None or not fall_back:
            raise
        tell(f"{error}; using what it sent {cached.age()} ago")
        return cached.snapshot
    except RegistryError as error:
        kept = f" (the one that it sent {cached.age()} ago is kept)" if cached else ""
        raise RegistryError(f"{error}{kept}") from None
    etag = reply.headers.get("etag", cached.etag if cached else "")
    modified = reply.headers.get("last-modified", cached.last_modified if cached else "")
    fetched = cached.fetched if cached and reply.status == 304 else time.time()
    cache.store(name, cache.Cached(snapshot, fetched, etag, modified))
    return snapshot


def sync_source(source: str, name: str = "", tell: Tell = _quiet) -> Snapshot:
    """Read any source that a user can name, and keep it under a name."""
    if name and not _NAME.fullmatch(name):
        raise RegistryError(f"{name!r} is not a name: use letters, digits, dots and dashes")
    if source.startswith(("http://", "https://")):
        return sync_address(source, name or "latest", tell)
    path = Path(source).expanduser()
    if not path.exists():
        raise RegistryError(f"{source} is neither a file, a folder, nor an http(s) address")
    snapshot = snapshot_of_path(path, name)
    cache.store(snapshot.release, cache.Cached(snapshot, time.time()))
    return snapshot


class Releases:
    """Releases of torch on the package index. The index is asked once, when it is needed."""

    def __init__(self, tell: Tell = _quiet, *, fresh: bool = False) -> None:
        """`fresh` fetches again what is here already."""
        self._tell = tell
        self._fresh = fresh
        self._wheels: list[Wheel] | None = None
        self._fetcher: Fetcher | None = None

    def sync(self, wanted: str | None = None) -> list[Snapshot]:
        """Fetch the releases that are not here yet; without a wish, the newest there is.

        A release never changes once it is out, so one that is here is not fetched again.
        """
        from fullgraph.registry.download import UnreachableError

        try:
            known = {wheel.release for wheel in self._found()}
        except UnreachableError as error:
            known = {*cached_releases()}
            if not known:
                raise
            self._tell(f"{error}; using the releases that were fetched before")
        if wanted is None:
            return [self.release(max(known, key=sort_key))]
        return [self.release(release) for release in expand(wanted, known)]

    def release(self, release: str) -> Snapshot:
        cached = None if self._fresh else cache.load(release)
        if cached is not None:
            self._tell(f"torch {release} was fetched {cached.age()} ago")
            return cached.snapshot
        from fullgraph.registry.package_index import best_wheel, is_address
        from fullgraph.registry.wheels import read_wheel

        wheel = best_wheel(self._found(), release)
        fetcher = self._fetcher
        assert fetcher is not None
        snapshot = snapshot_of_files(
            read_wheel(wheel.location, fetcher), release, f"torch {release} from the package index"
        )
        cache.store(release, cache.Cached(snapshot, time.time()))
        if is_address(wheel.location):
            self._tell(f"torch {release} fetched: {fetcher.transferred / 1e6:.1f} MB transferred")
        else:
            self._tell(f"torch {release} read from a wheel on this machine")
        fetcher.transferred = 0
        return snapshot

    def newest_matching(self, wanted: str) -> Snapshot:
        (release,) = expand(wanted, {wheel.release for wheel in self._found()})
        return self.release(release)

    def _found(self) -> list[Wheel]:
        from fullgraph.registry.download import Fetcher
        from fullgraph.registry.package_index import pip_settings, wheels

        if self._wheels is None:
            settings = pip_settings()
            self._fetcher = Fetcher(settings.certificates, settings.proxy)
            self._wheels = wheels(settings, self._fetcher)
        return self._wheels


# Choosing


def snapshot_named(wanted: str | None, tell: Tell = _quiet) -> Snapshot:
    """What a user means by `2.15`, `latest`, a path or an address; nothing means the installed.

    A release that is neither installed nor fetched before is fetched.
    """
    if wanted is None:
        return require_installed()
    if not is_release(wanted):
        cached = cache.load(wanted) if _NAME.fullmatch(wanted) else None
        if cached is not None:
            return cached.snapshot
        if wanted.startswith(("http://", "https://")):
            return sync_address(wanted, "latest", tell)
        path = Path(wanted).expanduser()
        if path.exists():
            return snapshot_of_path(path)
        known = ", ".join(cached_names()) or "none yet"
        raise RegistryError(
            f"{wanted!r} is neither a release such as 2.15, a file, nor the name of a registry "
            f"that was fetched ({known})"
        )
    if minor_of(wanted) < (2, 8):
        raise RegistryError(f"torch {wanted} has no registry: it came with 2.8.0")
    installed = installed_snapshot()
    if installed is not None and choose(wanted, [installed.release]):
        return installed
    here = choose(wanted, cached_releases())
    if here is not None and (cached := cache.load(here)) is not None:
        return cached.snapshot
    return Releases(tell).newest_matching(wanted)


def cached_names() -> list[str]:
    return [name for name in cache.names() if not name.startswith("installed-")]


def cached_releases() -> list[str]:
    return [name for name in cached_names() if sort_key(name)[0]]


def newest_cached() -> Snapshot | None:
    for name in sorted(cached_releases(), key=sort_key, reverse=True):
        cached = cache.load(name)
        if cached is not None:
            return cached.snapshot
    return None


def chronicle(extra: Iterable[Snapshot | None] = (), *, only_final: bool = False) -> Chronicle:
    """All releases that are known: those that come with fullgraph, fetched ones, and `extra`.

    `only_final` leaves out what was never released under its name, such as `2.16.0a0`.
    """
    facts: dict[str, Facts] = dict(known_facts())
    for name in cached_releases():
        if name not in facts and (cached := cache.load(name)) is not None:
            facts[name] = facts_of(cached.snapshot)
    for snapshot in extra:
        if snapshot and snapshot.release not in facts and snapshot.sites is not None:
            facts[snapshot.release] = facts_of(snapshot)
    return Chronicle(each for name, each in facts.items() if not only_final or sort_key(name)[3])
