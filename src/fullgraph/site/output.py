"""The folder that a site is built into: ours, or nobody's; changed file by file, never halfway.

What is ours is listed in a manifest with a digest of each file, so that a file that somebody
changed or deleted is noticed, and files of others are left alone.
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
from fullgraph.files import replace_file
from fullgraph.site.fingerprint import digest

MANIFEST = ".fullgraph-site.json"
_STAGE = ".fullgraph-site.new"
# GitHub Pages needs it to leave files whose names start with an underscore or a dot alone.
_NO_JEKYLL = ".nojekyll"
# A fresh checkout of the branch that a site is published from counts as empty.
_HARMLESS = frozenset({".git", "CNAME", _NO_JEKYLL, _STAGE})
# What `replace_file` writes to first.
_TEMPORARY = f".{MANIFEST}."
_FORMAT = 1


class OutputError(FullgraphError):
    """A folder that a site must not, or cannot, be written to."""


class FileFacts(Struct, frozen=True, array_like=True):
    # Of what the file shows, and of its content.
    facts: str
    content: str


class Manifest(Struct, frozen=True):
    format: int = _FORMAT
    # Of the code, the templates and the assets that made the files.
    maker: str = ""
    files: dict[str, FileFacts] = {}
    # A build that was killed may have written these.
    pending: tuple[str, ...] = ()
    # The registry that the texts are from.
    release: str = ""
    # The day on which this site first had something that has no date of its own.
    first_seen: dict[str, str] = {}


class Folder:
    """An output folder while it is locked."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def is_intact(self, name: str) -> bool:
        """The file is there, and nobody has changed it since it was built."""
        known = self.manifest.files.get(name)
        content = self.content(name)
        return known is not None and content is not None and digest(content) == known.content

    def content(self, name: str) -> bytes | None:
        try:
            # A thousand times: pathlib would be half of it.
            with open(f"{self.path}/{name}", "rb") as file:
                return file.read()
        except OSError:
            return None

    def update(self, changed: Mapping[str, bytes], manifest: Manifest) -> list[str]:
        """Put changed files in place, remove what `manifest` does not list; what was removed."""
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
                raise OutputError(
                    f"{self.path / name} is in the way, and it is not of this site: move it away"
                )

    def _replace(self, changed: Mapping[str, bytes]) -> None:
        """Everything is written beside the site first; a rename each puts it in place."""
        stage = self.path / _STAGE
        try:
            for folder in {os.path.dirname(name) for name in changed}:
                (stage / folder).mkdir(parents=True, exist_ok=True)
                (self.path / folder).mkdir(parents=True, exist_ok=True)
            for name, data in changed.items():
                _write(f"{stage}/{name}", data)
            for name in changed:
                os.replace(f"{stage}/{name}", f"{self.path}/{name}")
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def _remove_empty_folders(self, name: str) -> None:
        for folder in list((self.path / name).relative_to(self.path).parents)[:-1]:
            with suppress(OSError):
                (self.path / folder).rmdir()

    def _write_manifest(self, manifest: Manifest) -> None:
        # One file a line: in a repository, a small change is a small difference.
        replace_file(self.path / MANIFEST, [json.format(json.encode(manifest), indent=1), b"\n"])


def _write(path: str, data: bytes) -> None:
    # A thousand files: `open` takes twice as long.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


@contextmanager
def opened(path: Path, tell: Callable[[str], None] = lambda _: None) -> Iterator[Folder]:
    """The folder, locked: a second build waits for the first."""
    import fcntl

    made = _make(path)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"waiting for another build of {path}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _clear_litter(path)
        yield Folder(path, read_manifest(path) or Manifest())
    finally:
        os.close(descriptor)
        if made:
            # Nothing was written to it after all.
            with suppress(OSError):
                path.rmdir()


def _clear_litter(path: Path) -> None:
    """What a build that was killed left behind."""
    shutil.rmtree(path / _STAGE, ignore_errors=True)
    for file in path.glob(f"{_TEMPORARY}*"):
        file.unlink(missing_ok=True)


def _is_harmless(name: str) -> bool:
    return name in _HARMLESS or name.startswith(_TEMPORARY)


def check_folder(path: Path) -> None:
    """Refuse what is not ours, before anything takes time."""
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputError(f"{path} is a file: name a folder")
    if read_manifest(path) is None and not all(map(_is_harmless, os.listdir(path))):
        raise OutputError(f"{path} holds something else than a site: name an empty or a new folder")


def read_manifest(path: Path) -> Manifest | None:
    """What the folder says about itself; None where it is not a site."""
    try:
        data = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"cannot read {path / MANIFEST}: {error.strerror}") from None
    try:
        manifest = json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise OutputError(
            f"{path / MANIFEST} is damaged, so nobody can say what is ours: build into a new folder"
        ) from None
    if manifest.format != _FORMAT:
        raise OutputError(
            f"{path} was built by another version of fullgraph: build into a new folder"
        )
    return manifest


def _make(path: Path) -> bool:
    check_folder(path)
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make {path}: {error.strerror}") from None
    if not os.access(path, os.W_OK):
        raise OutputError(f"cannot write {path}: it is read-only")
    return made
