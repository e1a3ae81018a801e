"""Getting bytes from an address: a time-out, a few tries, parts of a file where that is allowed."""

from __future__ import annotations

import base64
import http.client
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import IO

from msgspec import Struct

from fullgraph.errors import RegistryError

TIMEOUT = 30.0
# How long to wait before each further try.
PAUSES = (0.5, 2.0)
# A registry is under one megabyte; something a hundred times larger is not one.
LARGEST_TEXT = 64 * 2**20


# What is to be read of an answer.
_Read = Callable[[http.client.HTTPResponse], bytes]


class UnreachableError(RegistryError):
    """Nobody answered, or not with what was asked for."""


class Reply(Struct, frozen=True):
    status: int
    data: bytes
    headers: dict[str, str]


class Fetcher:
    """Asks servers, and counts what they send."""

    def __init__(self, certificates: str | None = None, proxy: str | None = None) -> None:
        handlers: list[urllib.request.BaseHandler] = []
        if certificates:
            try:
                context = ssl.create_default_context(cafile=certificates)
            except OSError as error:
                raise RegistryError(
                    f"cannot read the certificates {certificates}: {error}"
                ) from None
            handlers.append(urllib.request.HTTPSHandler(context=context))
        if proxy:
            handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
        self._opener = urllib.request.build_opener(*handlers)
        self.transferred = 0

    def get(self, url: str, **headers: str) -> Reply:
        """The whole answer. 304 counts as one."""
        reply = self._tried(url, headers, _all_of)
        if len(reply.data) > LARGEST_TEXT:
            raise UnreachableError(f"{shown(url)} sent too much for what it should be")
        return reply

    def part(self, url: str, start: int, end: int) -> Reply | None:
        """Bytes from `start` to before `end`; counted from the end of the file if `start` is
        negative. None when the server only sends whole files."""
        wanted = f"bytes={start}" if start < 0 else f"bytes={start}-{end - 1}"
        reply = self._tried(
            url, {"Range": wanted}, lambda answer: answer.read() if answer.status == 206 else b""
        )
        return reply if reply.status == 206 else None

    def save(self, url: str, file: IO[bytes]) -> None:
        """The whole file, in pieces."""

        def copy(answer: http.client.HTTPResponse) -> bytes:
            file.seek(0)
            file.truncate()
            while piece := answer.read(2**20):
                file.write(piece)
                self.transferred += len(piece)
            expected = answer.headers.get("Content-Length", "")
            if expected.isdigit() and int(expected) != file.tell():
                raise http.client.IncompleteRead(b"", int(expected) - file.tell())
            return b""

        self._tried(url, {}, copy)

    def _tried(self, url: str, headers: dict[str, str], read: _Read) -> Reply:
        for pause in (*PAUSES, None):
            try:
                return self._once(url, headers, read)
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code not in (408, 429):
                    raise UnreachableError(
                        f"{shown(url)} answers {error.code} {error.reason}"
                    ) from None
                problem = f"answers {error.code} {error.reason}"
            except (OSError, http.client.HTTPException) as error:
                problem = (
                    f"cannot be reached: {getattr(error, 'reason', None) or error or 'no answer'}"
                )
            if pause is not None:
                time.sleep(pause)
        raise UnreachableError(f"{shown(url)} {problem}")

    def _once(self, url: str, headers: dict[str, str], read: _Read) -> Reply:
        request = _request(url, headers)
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                data = read(answer)
                self.transferred += len(data)
                return Reply(answer.status, data, _lower(answer.headers.items()))
        except urllib.error.HTTPError as error:
            if error.code == 304:
                return Reply(304, b"", _lower(error.headers.items()))
            raise


def _all_of(answer: http.client.HTTPResponse) -> bytes:
    data = answer.read(LARGEST_TEXT + 1)
    expected = answer.headers.get("Content-Length", "")
    # A bounded read does not notice by itself that an answer ends early.
    if expected.isdigit() and len(data) < min(int(expected), LARGEST_TEXT):
        raise http.client.IncompleteRead(data, int(expected) - len(data))
    return data


def _request(url: str, headers: dict[str, str]) -> urllib.request.Request:
    parts = urllib.parse.urlsplit(url)
    given = {"User-Agent": "fullgraph", "Accept-Encoding": "identity", **headers}
    if "@" in parts.netloc:
        # A name and a password in the address are sent as a header, which urllib does not do.
        user, _, host = parts.netloc.rpartition("@")
        token = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
        given["Authorization"] = f"Basic {token}"
        url = urllib.parse.urlunsplit(parts._replace(netloc=host))
    return urllib.request.Request(url, headers=given)


def shown(url: str) -> str:
    """An address without the password that may be in it."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _lower(headers: list[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
