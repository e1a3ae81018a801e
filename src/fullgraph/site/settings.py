"""Settings of a site: `site.toml`, and options that take precedence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.registry.releases import is_release
from fullgraph.site.contributed_files import symbolic_link_on
from fullgraph.site.model import Settings

FILE = "site.toml"
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


_RENAMED = {"seen": "reports"}


class SettingsError(FullgraphError):
    """A settings file that cannot be read."""


class _File(Struct, forbid_unknown_fields=True):
    """`site.toml`; paths are relative to it."""

    title: str = "Graph breaks"
    address: str = ""
    repository: str = ""
    branch: str = "main"
    info: str = ""
    release: str = ""
    reports: str = ""


class BuildPlan(Struct, frozen=True):
    """What to build a site from."""

    settings: Settings
    # Argument of `snapshot_named`; None means the installed torch.
    release: str | None
    # The folder of additional information, which may not exist.
    info: Path
    # A report of `fullgraph run --format json`, or a folder of them.
    reports: Path | None
    # The settings file; None if there is none.
    file: Path | None
    # True if the settings name the folder; the default folder need not exist.
    info_is_named: bool = False

    def info_folder(self) -> Path | None:
        """Return the folder of additional information; None if the default one does not exist."""
        if self.info.is_dir():
            return self.info
        if self.info_is_named:
            # A typo must not remove contributed information from the pages.
            raise SettingsError(
                f"there is no folder {self.info}, which {self.file} names as info; "
                "create it or change the setting"
            )
        return None


def make_plan(
    settings: str | None = None,
    info: str | None = None,
    release: str | None = None,
    reports: str | None = None,
) -> BuildPlan:
    """Return the plan for these options; `site.toml` provides the others."""
    file = Path(settings or FILE)
    found = file.is_file()
    if file.is_dir():
        raise SettingsError(f"{file} is a folder; name a settings file")
    if settings is not None and not found:
        raise SettingsError(f"there is no file {settings}; --settings takes a file like {FILE}")
    read = _read(file) if found else _File()
    info_path = read.info or "info"
    folder = Path(info) if info is not None else file.parent / info_path
    link = symbolic_link_on(file.parent, info_path) if info is None else None
    if link is not None:
        # A contributor could publish any folder of the machine with it.
        raise SettingsError(
            f"{link} is a symbolic link, which a site does not follow; make it a folder or "
            "name the folder with --info"
        )
    if info is not None and not folder.is_dir():
        raise SettingsError(
            f"there is no folder {info}; --info takes a folder with files such as gb0124.md"
        )
    return BuildPlan(
        settings=Settings(
            title=read.title,
            address=read.address,
            repository=read.repository,
            branch=read.branch,
            info_path=Path(info_path).as_posix(),
        ),
        release=release or _beside(file, read.release) or None,
        info=folder,
        reports=_reports_path(reports, file, read),
        file=file if found else None,
        info_is_named=info is None and bool(read.info),
    )


def _reports_path(option: str | None, file: Path, read: _File) -> Path | None:
    if option:
        return Path(option)
    return file.parent / read.reports if read.reports else None


def _beside(file: Path, release: str) -> str:
    """Return a path relative to the settings file, as all paths are; anything else unchanged."""
    path = file.parent / Path(release).expanduser()
    return str(path) if release and not is_release(release) and path.exists() else release


def _read(file: Path) -> _File:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from None
    known = _File.__struct_fields__
    for name in values:
        if name in _RENAMED:
            raise SettingsError(f"{file}: the setting {name} was renamed; use {_RENAMED[name]}")
        if name not in known:
            raise SettingsError(
                f"{file}: there is no setting {name!r}; use one of {', '.join(known)}"
            )
    for name, value in values.items():
        if not isinstance(value, str):
            raise SettingsError(f"{file}: {name} must be a string in quotes")
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
        raise SettingsError(
            f"{file}: info must be a folder next to {file.name}; for others use --info"
        )
    return read
