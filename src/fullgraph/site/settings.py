"""What the owner of a site decides: `site.toml`, and options that win over it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.site.model import Settings

FILE = "site.toml"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


class SettingsError(FullgraphError):
    """A file of settings that cannot be understood."""


class _File(Struct, forbid_unknown_fields=True):
    """`site.toml`; paths are relative to it."""

    title: str = "Graph breaks"
    address: str = ""
    repository: str = ""
    branch: str = "main"
    info: str = "info"
    release: str = ""
    seen: str = ""


class Plan(Struct, frozen=True):
    """What to build a site from."""

    settings: Settings
    # What `snapshot_named` takes; the installed torch without one.
    release: str | None
    # The folder of additional information; it need not exist.
    info: Path
    seen: Path | None
    # The file of settings, if there is one.
    file: Path | None


def make_plan(
    settings: str | None = None,
    info: str | None = None,
    release: str | None = None,
    seen: str | None = None,
) -> Plan:
    """Options as a user gave them, and the settings of the current folder for all others."""
    file = Path(settings or FILE)
    found = file.is_file()
    if settings is not None and not found:
        raise SettingsError(f"there is no file {settings}; --settings names a file like {FILE}")
    read = _read(file) if found else _File()
    folder = Path(info) if info is not None else file.parent / read.info
    if info is not None and not folder.is_dir():
        raise SettingsError(f"there is no folder {info}; --info names one with files as gb0124.md")
    seen_path = Path(seen) if seen else file.parent / read.seen if read.seen else None
    return Plan(
        settings=Settings(
            title=read.title,
            address=read.address,
            repository=read.repository,
            branch=read.branch,
            info_path=Path(read.info).as_posix(),
        ),
        release=release or read.release or None,
        info=folder,
        seen=seen_path,
        file=file if found else None,
    )


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
        if not re.match(r"https?://[^\s/]+", read.address):
            raise SettingsError(f"{file}: address must start with https:// or http://")
        read.address = read.address.rstrip("/") + "/"
    read.repository = re.sub(r"^https://github\.com/|(\.git)?/?$", "", read.repository)
    if read.repository and not _REPOSITORY.fullmatch(read.repository):
        raise SettingsError(f"{file}: repository must be OWNER/NAME, as on GitHub")
    if not read.branch or not read.info or not read.title:
        raise SettingsError(f"{file}: title, branch and info must not be empty")
    if Path(read.info).is_absolute() or ".." in Path(read.info).parts:
        raise SettingsError(f"{file}: info must be a folder beside {file.name}; use --info")
    return read
