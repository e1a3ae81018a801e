"""Download files with time-outs, retries, proxies and partial requests."""

from __future__ import annotations

import re
import ssl
from base64 import b64encode
from collections.abc import Callable
from functools import cached_property
from typing import IO
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct
from urllib3 import BaseHTTPResponse, PoolManager, ProxyManager, Retry
from urllib3.exceptions import HTTPError, MaxRetryError

from fullgraph.errors import RegistryError

TIMEOUT = 30.0
# A server that asks to wait for an hour is treated like one that does not answer.
RETRIES = Retry(
    total=3,
    redirect=False,
    status_forcelist=(408, 429, *range(500, 600)),
    backoff_factor=0.5,
    raise_on_status=False,
    respect_retry_after_header=False,
)
MOST_REDIRECTS = 10
# A registry is smaller than 1 MB, so a response of this size is something else.
LARGEST_TEXT = 64 * 2**20


# Reads the needed part of a response.
_Read = Callable[[BaseHTTPResponse], bytes]


class UnreachableError(RegistryError):
    """A server did not answer, or not with the requested file."""


class Reply(Struct, frozen=True):
    """A response that has been read completely. Header names are in lower case."""

    status: int
    data: bytes
    headers: dict[str, str]


class Downloader:
    """Sends requests and counts the received bytes in `transferred`.

    `proxy` replaces the proxies of the environment; `certificates` is a file of CA certificates.
    """

    def __init__(self, certificates: str | None = None, proxy: str | None = None) -> None:
        self._certificates = certificates
        self._proxies = {"http": proxy, "https": proxy} if proxy else getproxies()
        self._managers: dict[str, PoolManager] = {}
        self.transferred = 0

    def get(self, url: str, **headers: str) -> Reply:
        """Return the whole response; its status is 304 if the file has not changed."""
        reply = self._request(url, headers, lambda response: response.read(LARGEST_TEXT + 1))
        if len(reply.data) > LARGEST_TEXT:
            raise UnreachableError(f"{shown(url)} is larger than {LARGEST_TEXT >> 20} MB")
        return reply

    def part(self, url: str, start: int, end: int) -> Reply | None:
        """Return the bytes from `start` to before `end`.

        A negative `start` counts from the end of the file. None means that the server sends only
        whole files.
        """
        wanted = f"bytes={start}" if start < 0 else f"bytes={start}-{end - 1}"
        reply = self._request(
            url,
            {"Range": wanted},
            lambda response: response.read() if response.status == 206 else b"",
        )
        return reply if reply.status == 206 else None

    def save(self, url: str, file: IO[bytes]) -> None:
        """Write the whole file to `file`, without holding it in memory."""

        def copy(response: BaseHTTPResponse) -> bytes:
            file.seek(0)
            file.truncate()
            for piece in response.stream(2**20):
                file.write(piece)
                self.transferred += len(piece)
            return b""

        self._request(url, {}, copy)

    def _request(self, url: str, headers: dict[str, str], read: _Read) -> Reply:
        retries = RETRIES
        try:
            while True:
                with self._open(url, headers, retries) as response:
                    try:
                        data = read(response)
                    except HTTPError as error:
                        # urllib3 retries a request, but not the reading of its response.
                        left = response.retries or retries
                        retries = left.increment("GET", shown(url), error=error)
                        retries.sleep()
                        continue
                    self.transferred += len(data)
                    names = {name.lower(): value for name, value in response.headers.items()}
                    return Reply(response.status, data, names)
        except HTTPError as error:
            raise UnreachableError(f"{shown(url)} cannot be reached: {_reason(error)}") from None

    def _open(self, url: str, headers: dict[str, str], retries: Retry) -> BaseHTTPResponse:
        """Return the response, of which nothing is read yet, after all redirects.

        Redirects are followed here because the next host may need another proxy.
        """
        target = shown(url)
        headers = {"User-Agent": "fullgraph", "Accept-Encoding": "identity", **headers}
        if credentials := _credentials(url):
            headers["Authorization"] = credentials
        for _ in range(MOST_REDIRECTS + 1):
            response = self._manager(target).request(
                "GET",
                target,
                headers=headers,
                retries=retries,
                redirect=False,
                timeout=TIMEOUT,
                preload_content=False,
            )
            location = response.get_redirect_location()
            if not location:
                break
            response.close()
            new = shown(urljoin(target, location))
            if urlsplit(new)[:2] != urlsplit(target)[:2]:
                # The password is meant for the first host only.
                headers.pop("Authorization", None)
            target = new
        if response.status >= 300 and response.status != 304:
            response.close()
            raise UnreachableError(f"{shown(url)} answers {response.status} {response.reason}")
        return response

    def _manager(self, url: str) -> PoolManager:
        parts = urlsplit(url)
        proxy = self._proxies.get(parts.scheme) or ""
        if not proxy or proxy_bypass(parts.netloc):
            proxy = ""
        if proxy not in self._managers:
            self._managers[proxy] = self._new_manager(proxy)
        return self._managers[proxy]

    def _new_manager(self, proxy: str) -> PoolManager:
        if not proxy:
            return PoolManager(ssl_context=self._ssl_context)
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if urlsplit(proxy).scheme not in ("http", "https"):
            raise RegistryError(
                f"the proxy {shown(proxy)} is not supported; use an http or https proxy"
            )
        credentials = _credentials(proxy)
        return ProxyManager(
            shown(proxy),
            proxy_headers={"Proxy-Authorization": credentials} if credentials else None,
            ssl_context=self._ssl_context,
        )

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self._certificates)
        except OSError as error:
            raise RegistryError(
                f"cannot read the certificates {self._certificates}: {error}"
            ) from None


def _credentials(url: str) -> str:
    """Return the user and password of a URL as a header; empty if it has none."""
    user = unquote(urlsplit(url).netloc.rpartition("@")[0])
    # urllib3.make_headers accepts only characters of Latin-1.
    return f"Basic {b64encode(user.encode()).decode()}" if user else ""


def shown(url: str) -> str:
    """Return a URL without the user and password that may be in it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _reason(error: HTTPError) -> str:
    cause = error.reason if isinstance(error, MaxRetryError) else error
    # urllib3 puts the connection in front: HTTPConnection(host='example.org', port=80): …
    return re.sub(r"^\w+\(host=.*?\): ", "", str(cause)) or "no answer"
