"""An HTTP client that notes what the packages of providers hide: bodies that are no events of JSON.

They ignore such bodies, or call an answer complete whose connection was closed in the middle.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx2

# Seconds without any byte of an answer; `--timeout` covers all of it, and ends the wait earlier.
_SILENCE = 600.0
_CONNECT = 10.0
# Bytes of one answer.
_LONGEST = 50_000_000


class NotStreamedError(Exception):
    """The server answered with one JSON document instead of a stream of events."""


class NotJsonError(Exception):
    """The server answered with something that is not JSON."""


class WatchedHttp:
    """A client that follows no redirect, since a key must not reach another address."""

    def __init__(self) -> None:
        self.client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(_SILENCE, connect=_CONNECT),
            follow_redirects=False,
            # Compressed events could not be looked at.
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [self._on_response]},
        )
        # Whether this client's next answer is to be a stream, and what was seen of the last one.
        self.expects_stream = True
        self.is_malformed = False
        self.has_end = False
        self.has_events = False
        self.size = 0

    async def _on_response(self, response: httpx2.Response) -> None:
        self.is_malformed = self.has_end = self.has_events = False
        self.size = 0
        kind = response.headers.get("content-type", "")
        if response.status_code != 200:
            return
        is_document = "json" in kind or "html" in kind
        if self.expects_stream and not is_document:
            stream = response.stream
            assert isinstance(stream, httpx2.AsyncByteStream)
            response.stream = _WatchedStream(stream, self)
        elif "json" not in kind:
            raise NotJsonError
        elif self.expects_stream:
            raise NotStreamedError

    @property
    def is_no_stream(self) -> bool:
        """Whether the last answer has text and no event of JSON in it."""
        return self.is_malformed or (self.size > 0 and not self.has_events)

    def look_at(self, line: bytes) -> None:
        """Note what one line of a stream of events says."""
        name, _, value = line.partition(b":")
        value = value.strip()
        if name != b"data" or not value:
            return
        self.has_events = True
        if value == b"[DONE]":
            self.has_end = True
            return
        try:
            data = json.loads(value)
        except (ValueError, RecursionError):
            self.is_malformed = True
            return
        choices = data.get("choices") if isinstance(data, dict) else None
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("finish_reason"):
                self.has_end = True


class _WatchedStream(httpx2.AsyncByteStream):
    """Passes a stream of events on, and shows each line to a `WatchedHttp`."""

    def __init__(self, stream: httpx2.AsyncByteStream, watcher: WatchedHttp) -> None:
        self._stream = stream
        self._watcher = watcher

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = b""
        async for chunk in self._stream:
            self._watcher.size += len(chunk)
            if self._watcher.size > _LONGEST:
                raise NotJsonError
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._watcher.look_at(line)
            yield chunk
        self._watcher.look_at(rest)

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._stream.aclose()
