"""What the owner of a site decides: `site.toml`, and options that win over it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.registry.releases import is_release
from fullgraph.site.model import Settings

FILE = "site.toml"
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


class SettingsError(FullgraphError):
    """A file of settings that cannot be understood."""


class _File(Struct, forbid_unknown_fields=True):
    """`site.toml`; paths are relative to it."""

    title: str = "Graph breaks"
    address: str = ""
    repository: str = ""
    branch: str = "main"
    info: str = ""
    release: str = ""
    seen: str = ""


class Plan(Struct, frozen=True):
    """What to build a site from."""

    settings: Settings
    # What `snapshot_named` takes; the installed torch without one.
    release: str | None
    # The folder of additional information; `info_folder` says whether it is there.
    info: Path
    seen: Path | None
    # The file of settings, if there is one.
    file: Path | None
    # Somebody said so; the default need not be there.
    info_is_named: bool = False

    def info_folder(self) -> Path | None:
        """The folder of additional information, if there is any."""
        if self.info.is_dir():
            return self.info
        if self.info_is_named:
            # A typo must not take what people wrote off the pages.
            raise SettingsError(f"there is no folder {self.info}, which {self.file} names as info")
        return None


def make_plan(
    settings: str | None = None,
    info: str | None = None,
    release: str | None = None,
    seen: str | None = None,
) -> Plan:
    """Options as a user gave them, and the settings of the current folder for all others."""
    file = Path(settings or FILE)
    found = file.is_file()
    if file.is_dir():
        raise SettingsError(f"{file} is a folder; it should be a file of settings")
    if settings is not None and not found:
        raise SettingsError(f"there is no file {settings}; --settings names a file like {FILE}")
    read = _read(file) if found else _File()
    info_path = read.info or "info"
    folder = Path(info) if info is not None else file.parent / info_path
    if info is not None and not folder.is_dir():
        raise SettingsError(f"there is no folder {info}; --info names one with files as gb0124.md")
    seen_path = Path(seen) if seen else file.parent / read.seen if read.seen else None
    return Plan(
        settings=Settings(
            title=read.title,
            address=read.address,
            repository=read.repository,
            branch=read.branch,
            info_path=Path(info_path).as_posix(),
        ),
        release=release or _beside(file, read.release) or None,
        info=folder,
        seen=seen_path,
        file=file if found else None,
        info_is_named=info is None and bool(read.info),
    )


def _beside(file: Path, release: str) -> str:
    """A source that is a path is relative to the file of settings, as all paths are."""
    path = file.parent / Path(release).expanduser()
    return str(path) if release and not is_release(release) and path.exists() else release


def _read(file: Path) -> _File:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from None
    known = _File.__struct_fields__
    for name in values:
        if name not in known:
            raise SettingsError(
                f"{file}: there is no setting {name!r}; there are {', '.join(known)}"
            )
    for name, value in values.items():
        if not isinstance(value, str):
            raise SettingsError(f"{file}: {name} must be a text in quotes")
    return _checked(msgspec.convert(values, _File), file)


def _checked(read: _File, file: Path) -> _File:
    if read.address:
        if not _ADDRESS.fullmatch(read.address):
            raise SettingsError(f"{file}: address must be like https://example.org/breaks/")
        read.address = read.address.rstrip("/") + "/"
    read.repository = re.sub(r"^https://github\.com/|(\.git)?/?$", "", read.repository)
    if read.repository and not _REPOSITORY.fullmatch(read.repository):
        raise SettingsError(f"{file}: repository must be OWNER/NAME, as on GitHub")
    if not read.branch or not read.title:
        raise SettingsError(f"{file}: title and branch must not be empty")
    if Path(read.info).is_absolute() or ".." in Path(read.info).parts:
        raise SettingsError(f"{file}: info must be a folder beside {file.name}; use --info")
    return read
