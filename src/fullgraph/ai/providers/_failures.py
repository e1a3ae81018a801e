"""From an exception of a provider's package to one line, and whether another try may help."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)

from fullgraph.ai.errors import AiError, NoAnswerError, NotReachableError, SetupError
from fullgraph.ai.escapes import without_escapes
from fullgraph.ai.keys import KEY_VARIABLES, configured_values
from fullgraph.ai.masking import mask_secrets
from fullgraph.ai.protocol import TryAgainError
from fullgraph.ai.providers._watched_http import NotJsonError
from fullgraph.ai.selection import ADDRESS_VARIABLES, Selection
from fullgraph.terminal import one_line

_LONGEST = 200


def failure_of(error: Exception, selection: Selection) -> Exception:
    """Return what to raise: an `AiError`, or a `TryAgainError` if another try may help."""
    if isinstance(error, AiError | TryAgainError):
        return error
    return _Failure(error, selection).as_exception()


def is_caused_by(error: BaseException, kind: type[BaseException]) -> bool:
    """Return whether an exception, or one that it was raised from, is of a kind."""
    return any(isinstance(each, kind) for each in _causes(error))


class _Failure:
    def __init__(self, error: Exception, selection: Selection) -> None:
        self.error = error
        self.model = selection.model
        self.provider = selection.provider

    def as_exception(self) -> Exception:
        error = self.error
        if isinstance(error, ModelQuotaExceededError):
            return NotReachableError(f"{self._address} says that the quota is used up{self.said}")
        if isinstance(error, ModelRateLimitError):
            return self._again(f"{self._address} limits the rate of requests (429){self.said}")
        if isinstance(error, ModelAuthenticationError):
            return SetupError(self._refused_key())
        if isinstance(error, ModelNotFoundError):
            return SetupError(
                f"{self._address} has no model {self.model.name} (404){self.said}; name another "
                "with --model, or see fullgraph ai models"
            )
        if isinstance(error, ModelContextWindowExceededError):
            return SetupError(
                f"the prompt is too long for {self.model}{self.said}; try --no-source, or a model "
                "that takes more"
            )
        if status := _status(error):
            return self._of_status(status)
        return self._without_status()

    def _of_status(self, status: int) -> Exception:
        if status in (401, 403):
            return SetupError(self._refused_key())
        if status == 429 or status >= 500 or status in (408, 409):
            return self._again(f"{self._address} failed with status {status}{self.said}")
        if 300 <= status < 400:
            return SetupError(
                f"{self._address} redirects to another address, which is not followed; set "
                f"{ADDRESS_VARIABLES[self.provider.name]} to the final one"
            )
        return SetupError(f"{self._address} refuses the request ({status}){self.said}")

    def _without_status(self) -> Exception:
        error = self.error
        if isinstance(error, ContentFilterError):
            return NoAnswerError(f"{self.model} refused to answer{self.said}")
        if isinstance(error, ModelTimeoutError | ModelRequestTimeout):
            return self._again(f"{self._address} did not answer in time")
        if _has_no_json(error):
            return self._again(f"{self._address} answered with something that is not JSON")
        if isinstance(error, ModelConnectionError):
            return self._again(self._unconnected(error))
        if isinstance(error, UserError):
            return SetupError(f"{self.model} cannot be asked: {_short(str(error))}")
        if isinstance(error, UnexpectedModelBehavior):
            return NoAnswerError(f"{self.model} gave no usable answer: {_short(str(error))}")
        if isinstance(error, ModelAPIError):
            return self._again(f"{self._address} failed: {_short(str(error))}")
        if _is_transport(error):
            return self._again(self._unconnected(error))
        what = _short(str(error)) or type(error).__name__
        return NoAnswerError(f"the answer of {self.model} cannot be read: {what}")

    def _again(self, line: str) -> TryAgainError:
        return TryAgainError(line, getattr(self.error, "retry_after", None))

    def _refused_key(self) -> str:
        key = self.provider.key
        status = getattr(self.error, "status_code", 401)
        if key is None:
            keys = " or ".join(KEY_VARIABLES[self.provider.name])
            return f"{self._address} wants a key ({status}); set {keys}"
        return (
            f"{self._address} refuses the key from {key.found_in} ({status}){self.said}; "
            "check that it is complete and may use this model"
        )

    def _unconnected(self, error: Exception) -> str:
        phase = getattr(error, "phase", None)
        if phase == "read" or any(isinstance(each, EOFError) for each in _causes(error)):
            return f"the connection to {self._address} was cut"
        if phase in ("connect", None) and _names(error) & {"ConnectError", "ConnectTimeout"}:
            return f"{self._address} cannot be reached"
        if _names(error) & {"RemoteProtocolError", "ReadError"}:
            return f"the connection to {self._address} was cut"
        return f"{self._address} cannot be reached: {_short(str(error))}"

    @property
    def _address(self) -> str:
        return self.provider.shown_address if self.provider.own_address else self.provider.name

    @property
    def said(self) -> str:
        """The provider's own words, short and without secrets; empty if there are none."""
        words = _message_in(getattr(self.error, "body", None))
        return f": {_short(words)}" if words else ""


def _message_in(body: object) -> str:
    if isinstance(body, bytes | str):
        text = body.decode(errors="replace") if isinstance(body, bytes) else body
        try:
            body = json.loads(text)
        except ValueError:
            # A page of a proxy says nothing in its first words.
            return "" if "<" in text[:200] else text
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        for name in ("error", "message", "detail"):
            if body.get(name):
                inner = body[name]
                return _message_in(inner) if isinstance(inner, dict | list) else str(inner)
    return ""


def _short(text: str) -> str:
    text = one_line(without_escapes(mask_secrets(text, configured_values())))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _names(error: BaseException) -> set[str]:
    return {base.__name__ for each in _causes(error) for base in type(each).__mro__}


def _status(error: Exception) -> int | None:
    """Return the status of an HTTP error, also of one that pydantic-ai does not know as such."""
    for each in _causes(error):
        for name in ("status_code", "code"):
            status = getattr(each, name, None)
            if isinstance(status, int) and 300 <= status < 600:
                return status
    return None


def _has_no_json(error: Exception) -> bool:
    if any(isinstance(each, json.JSONDecodeError | NotJsonError) for each in _causes(error)):
        return True
    said = str(error)
    return isinstance(error, ModelAPIError) and ("as JSON" in said or "JSON response" in said)


def _is_transport(error: Exception) -> bool:
    return bool(_names(error) & {"TransportError", "HTTPError", "OSError", "APIConnectionError"})
