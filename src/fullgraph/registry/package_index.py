"""Find torch wheels on the package index that pip is configured for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import msgspec
from msgspec import Struct, json
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from fullgraph.errors import RegistryError
from fullgraph.installed_torch import OLDEST_TORCH, release_of
from fullgraph.registry.download import Downloader, Reply, UnreachableError, shown

_DEFAULT_INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.2, */*;q=0.1"
# Platforms with the smallest wheels first, for servers that send only whole files.
_PLATFORMS = ("macosx.*arm64", "macosx", "win_", "")


class PipSettings(Struct, frozen=True):
    """The settings of pip that matter for finding wheels."""

    indexes: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    certificates: str | None = None
    proxy: str | None = None


class Wheel(Struct, frozen=True):
    """A torch wheel and where it is."""

    release: str
    platform: str
    # A URL or the path of a file.
    location: str


class _Project(Struct):
    files: list[_File]


class _File(Struct):
    filename: str
    url: str
    yanked: bool | str = False


def pip_settings() -> PipSettings:
    """Return the settings of pip; pip itself is asked if it is installed."""
    values = _pip_config() if _pip_command() else _environment()
    no_index = values.get("no-index", "").lower() in ("1", "true", "yes", "on")
    indexes = [values.get("index-url", _DEFAULT_INDEX), *values.get("extra-index-url", "").split()]
    return PipSettings(
        indexes=() if no_index else tuple(dict.fromkeys(indexes)),
        find_links=tuple(values.get("find-links", "").split()),
        certificates=values.get("cert"),
        proxy=values.get("proxy"),
    )


def _pip_command() -> list[str]:
    from importlib.machinery import PathFinder

    # Not importlib.util.find_spec: setuptools takes that for an import of pip, and from then on
    # `import setuptools`, which the inductor backend needs, fails in this process.
    if PathFinder.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    pip = shutil.which("pip")
    return [pip] if pip else []


def _pip_config() -> dict[str, str]:
    command = [*_pip_command(), "--disable-pip-version-check", "config", "list"]
    try:
        output = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return _environment()
    return _merged(output.splitlines())


def _merged(lines: Iterable[str]) -> dict[str, str]:
    """Return settings from lines such as `global.index-url='…'`; `:env:` wins over `download`."""
    import ast

    ranks = {"global": 0, "install": 1, "download": 2, ":env:": 3}
    values: dict[str, tuple[int, str]] = {}
    for line in lines:
        match = re.match(r"(:env:|\w+)\.([\w-]+)=(.*)", line)
        if match is None or match[1] not in ranks:
            continue
        try:
            value = str(ast.literal_eval(match[3]))
        except (ValueError, SyntaxError):
            continue
        rank = ranks[match[1]]
        if rank >= values.get(match[2], (-1, ""))[0]:
            values[match[2]] = (rank, value)
    return {name: value for name, (_, value) in values.items()}


def _environment() -> dict[str, str]:
    return {
        name.removeprefix("PIP_").lower().replace("_", "-"): value
        for name, value in os.environ.items()
        if name.startswith("PIP_")
    }


def wheels(settings: PipSettings, downloader: Downloader) -> list[Wheel]:
    """Return all torch wheels that have a registry, from every index and folder of pip."""
    found: list[Wheel] = []
    problems = []
    pages = [f"{index.rstrip('/')}/torch/" for index in settings.indexes]
    for place in (*pages, *settings.find_links):
        try:
            found += _wheels_in(place, downloader)
        except UnreachableError as error:
            problems.append(str(error))
    if not found:
        why = "; ".join(problems) or "pip has neither an index nor find-links"
        raise UnreachableError(f"no torch wheel found: {why}")
    return found


def best_wheel(candidates: Iterable[Wheel], release: str) -> Wheel:
    """Return the wheel of a release that is cheapest to read."""
    same = [wheel for wheel in candidates if wheel.release == release]

    def cost(wheel: Wheel) -> tuple[bool, int]:
        kind = next(n for n, name in enumerate(_PLATFORMS) if re.match(name, wheel.platform))
        return (is_url(wheel.location), kind)

    if not same:
        raise RegistryError(f"the index has no wheel of torch {release}")
    return min(same, key=cost)


def is_url(text: str) -> bool:
    """Check whether a location is an http(s) URL."""
    return text.startswith(("http://", "https://"))


def _wheels_in(place: str, downloader: Downloader) -> Iterator[Wheel]:
    for name, location in _files_in(place, downloader):
        wheel = _wheel(name, location)
        if wheel is not None and release_of(wheel.release) >= OLDEST_TORCH:
            yield wheel


def _wheel(name: str, location: str) -> Wheel | None:
    """Return the wheel of a final torch release; None for any other file."""
    try:
        project, version, _, tags = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return None
    if project != "torch" or version.public != version.base_version:
        return None
    platforms = ".".join(sorted({tag.platform for tag in tags}))
    return Wheel(version.public, platforms, location)


def _files_in(place: str, downloader: Downloader) -> list[tuple[str, str]]:
    """Return the names and locations of the files that a page or a folder lists."""
    if is_url(place):
        reply = downloader.get(place, Accept=_ACCEPT)
        return _links(reply, place)
    path = Path(
        urllib.request.url2pathname(urllib.parse.urlsplit(place).path)
        if place.startswith("file:")
        else os.path.expanduser(place)
    )
    try:
        if (path / "index.html").is_file():
            path /= "index.html"
        if path.is_file():
            return _anchors(path.read_text(errors="replace"), path.absolute().as_uri())
        return [(file.name, str(file)) for file in sorted(path.glob("*.whl"))]
    except OSError as error:
        raise UnreachableError(f"{path}: {error.strerror}") from None


def _links(reply: Reply, page: str) -> list[tuple[str, str]]:
    if "json" not in reply.headers.get("content-type", ""):
        return _anchors(reply.data.decode(errors="replace"), page)
    try:
        project = json.decode(reply.data, type=_Project)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreachableError(f"{shown(page)} is not an index page: {error}") from None
    return [
        (file.filename, urllib.parse.urljoin(page, file.url))
        for file in project.files
        if not file.yanked
    ]


def _anchors(html: str, page: str) -> list[tuple[str, str]]:
    parser = _Anchors()
    parser.feed(html)
    found = []
    for href in parser.hrefs:
        location = urllib.parse.urljoin(page, href).split("#")[0]
        path = urllib.parse.unquote(urllib.parse.urlsplit(location).path)
        if location.startswith("file:"):
            location = path
        found.append((path.rsplit("/", 1)[-1], location))
    return found


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the target of a link, unless the file was withdrawn."""
        given = dict(attrs)
        if tag == "a" and given.get("href") and "data-yanked" not in given:
            self.hrefs.append(str(given["href"]))
