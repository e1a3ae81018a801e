"""The output folder of a site, which is changed file by file and never left half-written.

A manifest lists the files of the site with a digest of each. Changed or deleted files are
detected, and other files in the folder are left alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

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
        content = self.content(name)
        return known is not None and content is not None and digest(content) == known.content

    def content(self, name: str) -> bytes | None:
        """Return the content of a file; None if it cannot be read."""
        try:
            # Called a thousand times; pathlib would double the cost.
            with open(f"{self.path}/{name}", "rb") as file:
                return file.read()
        except OSError:
            return None

    def update(self, changed: Mapping[str, bytes], manifest: Manifest) -> list[str]:
        """Replace changed files, delete files not in `manifest`, and return the deleted."""
        self._check_foreign(changed)
        ours = {*self.manifest.files, *self.manifest.pending}
        gone = sorted(name for name in ours - set(manifest.files) if self._has(name))
        try:
            if set(changed) - ours:
                pending = tuple(sorted(ours | set(changed)))
                self._write_manifest(msgspec.structs.replace(self.manifest, pending=pending))
            self._replace(changed)
            for name in gone:
                (self.path / name).unlink(missing_ok=True)
                self._remove_empty_folders(name)
            if not self._has(_NO_JEKYLL):
                (self.path / _NO_JEKYLL).touch()
            if manifest != self.manifest:
                self._write_manifest(manifest)
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror or error}") from None
        self.manifest = manifest
        return gone

    def _has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def _check_foreign(self, changed: Collection[str]) -> None:
        ours = {*self.manifest.files, *self.manifest.pending}
        for name in changed:
            if name not in ours and os.path.lexists(self.path / name):
                raise OutputError(f"{self.path / name} is not part of this site; move it away")

    def _replace(self, changed: Mapping[str, bytes]) -> None:
        """Write all files into a stage folder, then rename each into place."""
        stage = self.path / _STAGE
        try:
            # The stage has no folders: making and removing thousands of them takes seconds.
            stage.mkdir(exist_ok=True)
            for folder in {os.path.dirname(name) for name in changed}:
                os.makedirs(f"{self.path}/{folder}", exist_ok=True)
            for number, data in enumerate(changed.values()):
                _write(f"{stage}/{number}", data)
            for number, name in enumerate(changed):
                os.replace(f"{stage}/{number}", f"{self.path}/{name}")
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def _remove_empty_folders(self, name: str) -> None:
        for folder in list((self.path / name).relative_to(self.path).parents)[:-1]:
            with suppress(OSError):
                (self.path / folder).rmdir()

    def _write_manifest(self, manifest: Manifest) -> None:
        # One file per line, so that a small change makes a small diff.
        replace_file(self.path / MANIFEST, [json.format(json.encode(manifest), indent=1), b"\n"])


def _write(path: str, data: bytes) -> None:
    # For a thousand files, `open` takes twice as long.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


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
