"""Read a registry from the installed torch, a release, a file, a URL or a checkout.

The installed torch is the default. It needs no network, and torch is not imported.
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
from fullgraph.files import unreadable
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
from fullgraph.registry.history import EntryHistories, Facts, facts_of, known_facts
from fullgraph.registry.releases import (
    base_of,
    choose,
    expand,
    has_number,
    is_final,
    is_release,
    require_registry,
    sort_key,
)

if TYPE_CHECKING:
    from fullgraph.registry.download import Downloader
    from fullgraph.registry.package_index import Wheel

Progress = Callable[[str], None]
_VERSION = re.compile(r"^__version__ = ['\"]([^'\"]+)['\"]", re.MULTILINE)
_NAME = re.compile(r"[\w.+-]{1,60}")


def _quiet(_: str) -> None:
    pass


# The installed torch


def installed_version(torch: Path) -> str:
    """Return the version of torch in a folder without importing it."""
    try:
        match = _VERSION.search((torch / "version.py").read_text())
    except OSError:
        match = None
    return match[1] if match else "unknown"


def installed_snapshot() -> Snapshot | None:
    """Return the registry of the installed torch; None if there is no torch or no registry."""
    torch = torch_folder()
    if torch is None:
        return None
    version = installed_version(torch)
    try:
        data = (torch / REGISTRY_FILE).read_bytes()
    except OSError:
        return None  # torch before 2.8
    checksum = checksum_of(data)
    entries = read_registry(data, f"the registry of torch {version}", unknown_fields=True)
    facts = known_facts().get(base_of(version))
    if facts is not None and facts.checksum == checksum:
        sites = {name: entry.sites for name, entry in facts.entries.items() if entry.live}
        unmapped = tuple(UnmappedCall(type="", site=site) for site in facts.unmapped)
        return Snapshot(base_of(version), entries, sites, unmapped, {}, checksum, "installed")
    # The release has no facts, so read its source.
    return _read_once(torch, version, checksum)


def with_texts(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with text from the source for all entries that lack it."""
    torch = torch_folder()
    if snapshot.texts or snapshot.origin != "installed" or torch is None:
        return snapshot
    found = _read_once(torch, installed_version(torch), snapshot.checksum).texts
    # An empty text marks entries that were searched without a result.
    nothing = dict.fromkeys(snapshot.entries, SourceText())
    return msgspec.structs.replace(snapshot, texts={**nothing, **found})


def _read_once(torch: Path, version: str, checksum: str) -> Snapshot:
    """Return the installed torch with texts from its source; the first time takes a second."""
    cached = cache.load(f"installed-{version}")
    if cached is not None and cached.snapshot.checksum == checksum:
        return cached.snapshot
    snapshot = snapshot_of_folder(torch, base_of(version), "installed")
    # If the cache cannot be written, the only cost is one second per run.
    with suppress(FullgraphError):
        cache.store(f"installed-{version}", cache.Cached(snapshot, time.time()))
    return snapshot


def read_again(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with the types of calls without an entry, which facts do not have."""
    torch = torch_folder()
    if snapshot.origin != "installed" or torch is None:
        return snapshot
    return snapshot_of_folder(torch, snapshot.release, snapshot.origin)


def require_installed() -> Snapshot:
    """Return the installed torch's registry, or the newest one that was downloaded."""
    snapshot = installed_snapshot() or newest_cached()
    if snapshot is None:
        raise no_registry_error()
    return snapshot


def no_registry_error() -> RegistryError:
    """Return the error for a machine without any registry."""
    torch = torch_folder()
    why = "no registry is available; install torch"
    if torch is not None:
        why = f"the installed torch {installed_version(torch)} has no registry; use 2.8 or later"
    return RegistryError(f"{why}, or download one with fullgraph registry sync --releases 2.15")


# Files and folders


def snapshot_of_files(
    files: dict[str, bytes], release: str, origin: str, *, unknown_fields: bool = True
) -> Snapshot:
    """Return a registry with its source code. The paths start with `torch/`."""
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
    """Return text from the source for one entry; the installed torch is read on demand."""
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
    """Return the registry of a torch in a folder, installed or checked out."""
    files = {
        path.relative_to(torch.parent).as_posix(): path.read_bytes()
        for path in (torch / "_dynamo").rglob("*.py")
    }
    files[f"torch/{REGISTRY_FILE}"] = (torch / REGISTRY_FILE).read_bytes()
    return snapshot_of_files(files, release, origin, unknown_fields=origin == "installed")


def snapshot_of_path(path: Path, name: str = "") -> Snapshot:
    """Return the registry in a file, a wheel, a checkout or a folder that contains torch."""
    if path.is_dir():
        for torch in (path / "torch", path):
            if (torch / REGISTRY_FILE).is_file():
                return snapshot_of_folder(torch, name or _checkout_version(torch), str(path))
        raise RegistryError(f"{path} is not a PyTorch checkout; it has no torch/{REGISTRY_FILE}")
    if path.suffix == ".whl":
        from fullgraph.registry.download import Downloader
        from fullgraph.registry.wheels import read_wheel

        return snapshot_of_files(
            read_wheel(str(path), Downloader()), name or _wheel_release(path), str(path)
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RegistryError(unreadable(path, error)) from None
    return _bare_snapshot(data, name or "latest", str(path))


def _wheel_release(path: Path) -> str:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        return parse_wheel_filename(path.name)[1].public
    except InvalidWheelFilename:
        return path.stem


def _checkout_version(torch: Path) -> str:
    try:
        version = base_of((torch.parent / "version.txt").read_text().strip())
    except (OSError, UnicodeDecodeError):
        version = base_of(installed_version(torch))
    return version if version != "unknown" and _NAME.fullmatch(version) else "checkout"


def _bare_snapshot(data: bytes, name: str, origin: str) -> Snapshot:
    return Snapshot(name, read_registry(data, origin), None, (), {}, checksum_of(data), origin)


# Downloads


def sync_url(
    url: str, name: str = "latest", progress: Progress = _quiet, *, fall_back: bool = True
) -> Snapshot:
    """Return the registry at a URL, or the cached one if the server does not answer."""
    from fullgraph.registry.download import Downloader, UnreachableError, shown

    cached = cache.load(name)
    if cached is not None and cached.snapshot.origin != shown(url):
        cached = None
    conditions = {}
    if cached is not None and cached.etag:
        conditions["If-None-Match"] = cached.etag
    if cached is not None and cached.last_modified:
        conditions["If-Modified-Since"] = cached.last_modified
    try:
        reply = Downloader().get(url, **conditions)
        if cached is None or reply.status != 304:
            snapshot = _bare_snapshot(reply.data, name, shown(url))
        else:
            snapshot = cached.snapshot
            progress(f"{shown(url)} has not changed since {cached.age()} ago")
    except UnreachableError as error:
        if cached is None or not fall_back:
            raise
        progress(f"{error}; using the registry of {cached.age()} ago")
        return cached.snapshot
    except RegistryError as error:
        kept = f" (the registry of {cached.age()} ago is kept)" if cached else ""
        raise RegistryError(f"{error}{kept}") from None
    etag = reply.headers.get("etag", cached.etag if cached else "")
    modified = reply.headers.get("last-modified", cached.last_modified if cached else "")
    fetched = cached.fetched if cached and reply.status == 304 else time.time()
    cache.store(name, cache.Cached(snapshot, fetched, etag, modified))
    return snapshot


def sync_source(source: str, name: str = "", progress: Progress = _quiet) -> Snapshot:
    """Read any source that a user can name, and store it under a name."""
    if name and not _NAME.fullmatch(name):
        raise RegistryError(f"{name!r} is not a valid name; use letters, digits, dots and dashes")
    if source.startswith(("http://", "https://")):
        return sync_url(source, name or "latest", progress)
    path = Path(source).expanduser()
    if not path.exists():
        raise RegistryError(f"{source} is neither a file, a folder, nor an http(s) URL")
    snapshot = snapshot_of_path(path, name)
    cache.store(snapshot.release, cache.Cached(snapshot, time.time()))
    return snapshot


class Releases:
    """Releases of torch on the package index, which is read once and on demand."""

    def __init__(self, progress: Progress = _quiet, *, fresh: bool = False) -> None:
        """`fresh` downloads releases again even if they are cached."""
        self._progress = progress
        self._fresh = fresh
        self._wheels: list[Wheel] | None = None
        self._downloader: Downloader | None = None

    def sync(self, wanted: str | None = None) -> list[Snapshot]:
        """Return the wanted releases, or the newest one; download those that are not cached.

        A release never changes, so a cached one is not downloaded again.
        """
        from fullgraph.registry.download import UnreachableError

        try:
            known = {wheel.release for wheel in self._found()}
        except UnreachableError as error:
            known = {*cached_releases()}
            if not known:
                raise
            self._progress(f"{error}; using the downloaded releases")
        if wanted is None:
            return [self.release(max(known, key=sort_key))]
        return [self.release(release) for release in expand(wanted, known)]

    def release(self, release: str) -> Snapshot:
        """Return the registry of a release, from the cache or the package index."""
        cached = None if self._fresh else cache.load(release)
        if cached is not None:
            self._progress(f"torch {release} was downloaded {cached.age()} ago")
            return cached.snapshot
        from fullgraph.registry.package_index import best_wheel, is_url
        from fullgraph.registry.wheels import read_wheel

        wheel = best_wheel(self._found(), release)
        downloader = self._downloader
        assert downloader is not None
        snapshot = snapshot_of_files(
            read_wheel(wheel.location, downloader),
            release,
            f"torch {release} from the package index",
        )
        cache.store(release, cache.Cached(snapshot, time.time()))
        if is_url(wheel.location):
            self._progress(f"torch {release}: {downloader.transferred / 1e6:.1f} MB downloaded")
        else:
            self._progress(f"torch {release}: read from a local wheel")
        downloader.transferred = 0
        return snapshot

    def newest_matching(self, wanted: str) -> Snapshot:
        """Return the registry of the newest release that `wanted` means."""
        (release,) = expand(wanted, {wheel.release for wheel in self._found()})
        return self.release(release)

    def _found(self) -> list[Wheel]:
        from fullgraph.registry.download import Downloader
        from fullgraph.registry.package_index import pip_settings, wheels

        if self._wheels is None:
            settings = pip_settings()
            self._downloader = Downloader(settings.certificates, settings.proxy)
            self._wheels = wheels(settings, self._downloader)
        return self._wheels


# Selection


def snapshot_named(wanted: str | None, progress: Progress = _quiet) -> Snapshot:
    """Return the registry that a user means by `2.15`, `latest`, a path or a URL.

    None means the installed torch. Other releases are downloaded unless they are cached.
    """
    if wanted is None:
        return require_installed()
    if not is_release(wanted):
        cached = cache.load(wanted) if _NAME.fullmatch(wanted) else None
        if cached is not None:
            return cached.snapshot
        if wanted.startswith(("http://", "https://")):
            return sync_url(wanted, "latest", progress)
        path = Path(wanted).expanduser()
        if path.exists():
            return snapshot_of_path(path)
        known = ", ".join(cached_names()) or "none so far"
        raise RegistryError(
            f"{wanted!r} is neither a release such as 2.15, a file, nor a downloaded registry "
            f"({known})"
        )
    require_registry(wanted)
    installed = installed_snapshot()
    if installed is not None and choose(wanted, [installed.release]):
        return installed
    here = choose(wanted, cached_releases())
    if here is not None and (cached := cache.load(here)) is not None:
        return cached.snapshot
    return Releases(progress).newest_matching(wanted)


def cached_names() -> list[str]:
    """Return the names of all downloaded registries."""
    return [name for name in cache.names() if not name.startswith("installed-")]


def cached_releases() -> list[str]:
    """Return the names of downloaded registries that are release numbers."""
    return [name for name in cached_names() if has_number(name)]


def newest_cached() -> Snapshot | None:
    """Return the newest downloaded release; None if there is none."""
    for name in sorted(cached_releases(), key=sort_key, reverse=True):
        cached = cache.load(name)
        if cached is not None:
            return cached.snapshot
    return None


def all_histories(
    extra: Iterable[Snapshot | None] = (), *, only_final: bool = False
) -> EntryHistories:
    """Return the histories over all known releases: packaged facts, downloads and `extra`.

    `only_final` omits versions that are not final releases, such as `2.16.0a0`.
    """
    facts: dict[str, Facts] = dict(known_facts())
    for name in cached_releases():
        if name not in facts and (cached := cache.load(name)) is not None:
            facts[name] = facts_of(cached.snapshot)
    for snapshot in extra:
        if snapshot and snapshot.release not in facts and snapshot.sites is not None:
            facts[snapshot.release] = facts_of(snapshot)
    return EntryHistories(each for name, each in facts.items() if not only_final or is_final(name))
