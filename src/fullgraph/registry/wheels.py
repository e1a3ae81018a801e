"""Read `torch/_dynamo` from a wheel; from a server, download only the needed parts.

A wheel is a zip file. Its directory is at the end, and the files of `_dynamo` are next to each
other. The needed parts are about 3 MB of 60 to 140 MB.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from fullgraph.errors import RegistryError
from fullgraph.files import unreadable
from fullgraph.registry.download import Downloader, UnreachableError, shown
from fullgraph.registry.entries import REGISTRY_FILE
from fullgraph.registry.package_index import is_url

_FOLDER = "torch/_dynamo/"
_TAIL = 64 * 1024
# Parts closer than this are downloaded as one: a request costs more.
_GAP = 64 * 1024
# A local header repeats the name and may have extra fields of unknown length.
_HEADER = 1024


def read_wheel(location: str, downloader: Downloader) -> dict[str, bytes]:
    """Return the registry and the source of `_dynamo`, by path inside the wheel."""
    try:
        with _opened(location, downloader) as file, zipfile.ZipFile(file) as wheel:
            members = [each for each in wheel.infolist() if _is_needed(each.filename)]
            if isinstance(file, RangeFile):
                file.prefetch([(each.header_offset, _length(each)) for each in members])
            found = {each.filename: wheel.read(each) for each in members}
    except (zipfile.BadZipFile, EOFError) as error:
        raise RegistryError(f"{shown(location)} is not a wheel: {error}") from None
    except OSError as error:
        raise RegistryError(unreadable(shown(location), error)) from None
    if f"torch/{REGISTRY_FILE}" not in found:
        raise RegistryError(f"{shown(location)} has no registry; use torch 2.8 or later")
    return found


def _is_needed(name: str) -> bool:
    return name.startswith(_FOLDER) and (name.endswith(".py") or name == f"torch/{REGISTRY_FILE}")


def _length(member: zipfile.ZipInfo) -> int:
    return member.compress_size + len(member.filename) + _HEADER


@contextmanager
def _opened(location: str, downloader: Downloader) -> Iterator[IO[bytes]]:
    if not is_url(location):
        with open(location, "rb") as file:
            yield file
        return
    tail = downloader.part(location, -_TAIL, 0)
    if tail is not None:
        yield RangeFile(location, downloader, tail.headers.get("content-range", ""), tail.data)
        return
    with tempfile.TemporaryFile() as whole:
        downloader.save(location, whole)
        yield whole


class RangeFile(io.BytesIO):
    """A file on a server. Parts are downloaded when they are read for the first time."""

    def __init__(self, url: str, downloader: Downloader, content_range: str, tail: bytes) -> None:
        super().__init__()
        self._url = url
        self._downloader = downloader
        try:
            self._size = int(content_range.rpartition("/")[2])
        except ValueError:
            raise UnreachableError(f"{shown(url)} does not send its length") from None
        self._parts = [(self._size - len(tail), tail)]
        self._position = 0

    def seekable(self) -> bool:
        """Return True, as zipfile requires."""
        return True

    def tell(self) -> int:
        """Return the current position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position and return it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Return the bytes at the current position, downloading them if needed."""
        end = self._size if size is None or size < 0 else min(self._size, self._position + size)
        start, self._position = self._position, max(self._position, end)
        return self._bytes(start, end) if end > start else b""

    def prefetch(self, wanted: list[tuple[int, int]]) -> None:
        """Download adjacent parts with one request; `wanted` has starts and lengths."""
        spans: list[list[int]] = []
        for start, length in sorted(wanted):
            end = min(start + length, self._size)
            if spans and start - spans[-1][1] <= _GAP:
                spans[-1][1] = max(spans[-1][1], end)
            else:
                spans.append([start, end])
        for start, end in spans:
            self._bytes(start, end)

    def _bytes(self, start: int, end: int) -> bytes:
        for at, data in self._parts:
            if at <= start and end <= at + len(data):
                return data[start - at : end - at]
        # The end of the file is loaded, and most directories overlap with it.
        tail_start, tail = self._parts[0]
        stop = min(end, tail_start) if start < tail_start else end
        reply = self._downloader.part(self._url, start, stop)
        if reply is None or len(reply.data) != stop - start:
            raise UnreachableError(f"{shown(self._url)} did not send the requested part")
        data = reply.data + tail[: end - stop]
        self._parts.append((start, data))
        return data
