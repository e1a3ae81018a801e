"""The output folder of a site, which is changed file by file and never left half-written.

A manifest lists the files of the site with a digest of each. Changed or deleted files are
detected, and other files in the folder are left alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, json

from fullgraph.errors import FullgraphError
from fullgraph.files import replace_file, unreadable
from fullgraph.site.fingerprint import digest

MANIFEST = ".fullgraph-site.json"
_STAGE = ".fullgraph-site.new"
# Tells GitHub Pages to publish files whose names start with an underscore or a dot.
_NO_JEKYLL = ".nojekyll"
# A new checkout of the published branch counts as empty.
_HARMLESS = frozenset({".git", "CNAME", _NO_JEKYLL, _STAGE})
# Temporary files of `replace_file`.
_TEMPORARY = f".{MANIFEST}."
_FORMAT = 1


class OutputError(FullgraphError):
    """A folder that a site must not, or cannot, be written to."""


class FileFacts(Struct, frozen=True, array_like=True):
    """Fingerprints of one file."""

    # Fingerprint of the facts that the file shows, and digest of its content.
    facts: str
    content: str


class Manifest(Struct, frozen=True):
    """The list of files that belong to a site."""

    format: int = _FORMAT
    # Fingerprint of the code, templates and assets that made the files.
    maker: str = ""
    files: dict[str, FileFacts] = {}
    # Files that an interrupted build may have written.
    pending: tuple[str, ...] = ()
    # The registry that the texts come from.
    release: str = ""
    # The day on which something without a date first appeared on this site.
    first_seen: dict[str, str] = {}


class Folder:
    """A locked output folder."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def is_intact(self, name: str) -> bool:
        """Check whether a file exists and has not been changed since it was built."""
        known = self.manifest.files.get(name)
        content = _content(f"{self.path}/{name}")
        return known is not None and content is not None and digest(content) == known.content

    @contextmanager
    def staging(self, names: Iterable[str]) -> Iterator[Staging]:
        """Yield a place for new contents of these files; it is gone after the block."""
        staging = Staging(self.path, names)
        try:
            with self._reporting_errors():
                staging.make()
            yield staging
        finally:
            shutil.rmtree(staging.path, ignore_errors=True)

    def update(self, staging: Staging, changed: Collection[str], manifest: Manifest) -> list[str]:
        """Move changed files into place, delete files not in `manifest`, return the deleted."""
        ours = {*self.manifest.files, *self.manifest.pending}
        self._check_foreign(name for name in changed if name not in ours)
        gone = sorted(name for name in ours - set(manifest.files) if self._has(name))
        with self._reporting_errors():
            if not ours.issuperset(changed):
                pending = tuple(sorted(ours.union(changed)))
                self._write_manifest(msgspec.structs.replace(self.manifest, pending=pending))
            staging.move(changed)
            for name in gone:
                (self.path / name).unlink(missing_ok=True)
                self._remove_empty_folders(name)
            if not self._has(_NO_JEKYLL):
                (self.path / _NO_JEKYLL).touch()
            if manifest != self.manifest:
                self._write_manifest(manifest)
        self.manifest = manifest
        return gone

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def _has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def _check_foreign(self, names: Iterable[str]) -> None:
        for name in names:
            if os.path.lexists(f"{self.path}/{name}"):
                raise OutputError(f"{self.path / name} is not part of this site; move it away")

    def _remove_empty_folders(self, name: str) -> None:
        for folder in list((self.path / name).relative_to(self.path).parents)[:-1]:
            with suppress(OSError):
                (self.path / folder).rmdir()

    def _write_manifest(self, manifest: Manifest) -> None:
        # One file per line, so that a small change makes a small diff.
        replace_file(self.path / MANIFEST, [json.format(json.encode(manifest), indent=1), b"\n"])


class Kept(NamedTuple):
    """What became of a new content."""

    digest: str
    # False if the file already has this content.
    is_changed: bool


class Staging:
    """New contents of files, which are written beside the site and then renamed into place.

    A folder that the site does not have yet is written as a whole and renamed once. Files of other
    folders are numbered: making and removing thousands of folders would take seconds.
    """

    def __init__(self, site: Path, names: Iterable[str]) -> None:
        self.path = f"{site}/{_STAGE}"
        self._site = str(site)
        self._numbers = {name: number for number, name in enumerate(names)}
        folders = sorted({os.path.dirname(name) for name in self._numbers})
        # For each folder that the site does not have: the topmost one that it does not have.
        self._new = {folder: top for folder in folders if (top := self._topmost_missing(folder))}

    def make(self) -> None:
        """Create the folders that are needed; none if there are no files."""
        if self._numbers:
            os.makedirs(self.path, exist_ok=True)
        for folder in self._new:
            os.makedirs(self._new_path(folder), exist_ok=True)

    def keep(self, name: str, content: bytes) -> Kept:
        """Write a content if it differs from that of the file in the site."""
        is_new = os.path.dirname(name) in self._new
        is_changed = is_new or _content(f"{self._site}/{name}") != content
        if is_changed:
            try:
                _write(self._source(name), content)
            except OSError as error:
                raise _unwritable(self._site, error) from None
        return Kept(digest(content), is_changed)

    def move(self, names: Collection[str]) -> None:
        """Rename contents into place: what pages need, then pages, and the home page last."""
        sources: dict[str, str] = {}
        for name in sorted(names, key=_last_pages):
            target = self._new.get(os.path.dirname(name), name)
            # A folder has the place of its last file.
            sources.pop(target, None)
            sources[target] = self._source(name) if target == name else self._new_path(target)
        for target, source in sources.items():
            os.replace(source, f"{self._site}/{target}")

    def _source(self, name: str) -> str:
        is_new = os.path.dirname(name) in self._new
        return self._new_path(name) if is_new else f"{self.path}/{self._numbers[name]}"

    def _new_path(self, name: str) -> str:
        return f"{self.path}/new/{name}"

    def _topmost_missing(self, folder: str) -> str:
        """Return the topmost of a folder and its parents that does not exist; empty if all do."""
        missing = ""
        while folder and not os.path.isdir(f"{self._site}/{folder}"):
            missing, folder = folder, os.path.dirname(folder)
        return missing


def _last_pages(name: str) -> tuple[bool, bool, str]:
    """Return a sort key: files that pages need come before pages, and the home page is last."""
    return (name == "index.html", name.endswith(".html"), name)


def _unwritable(path: str | Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {path}: {error.strerror or error}")


def _write(path: str, data: bytes) -> None:
    # For a thousand files, `open` takes twice as long.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def _content(path: str) -> bytes | None:
    """Return the content of a file; None if it cannot be read."""
    try:
        # Called a thousand times; pathlib would double the cost.
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


@contextmanager
def opened(path: Path, progress: Callable[[str], None] = lambda _: None) -> Iterator[Folder]:
    """Lock the folder and yield it; a second build waits for the first."""
    import fcntl

    made = _make(path)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another build of {path}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _clear_litter(path)
        yield Folder(path, read_manifest(path) or Manifest())
    finally:
        os.close(descriptor)
        if made:
            # The folder is empty: nothing was written.
            with suppress(OSError):
                path.rmdir()


def _clear_litter(path: Path) -> None:
    """Delete files that an interrupted build left."""
    shutil.rmtree(path / _STAGE, ignore_errors=True)
    for file in path.glob(f"{_TEMPORARY}*"):
        file.unlink(missing_ok=True)


def _is_harmless(name: str) -> bool:
    return name in _HARMLESS or name.startswith(_TEMPORARY)


def check_folder(path: Path) -> None:
    """Raise an error if the folder contains anything but a site."""
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputError(f"{path} is a file; name a folder")
    if read_manifest(path) is None and not all(map(_is_harmless, os.listdir(path))):
        raise OutputError(f"{path} is not empty and not a site; name an empty or a new folder")


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest of a folder; None if it is not a site."""
    try:
        data = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(unreadable(path / MANIFEST, error)) from None
    try:
        manifest = json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise OutputError(
            f"{path / MANIFEST} is damaged, so the files of the site are unknown; use a new folder"
        ) from None
    if manifest.format != _FORMAT:
        raise OutputError(
            f"{path} was built by another version of fullgraph; build into a new folder"
        )
    return manifest


def _make(path: Path) -> bool:
    check_folder(path)
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create {path}: {error.strerror}") from None
    if not os.access(path, os.W_OK):
        raise OutputError(f"cannot write {path}: it is read-only")
    return made
