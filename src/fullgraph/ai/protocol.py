"""Our own, small view of a language model: a prompt in, pieces of text out, and what it used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from msgspec import Struct

from fullgraph.ai.errors import NotReachableError


class Prompt(Struct, frozen=True):
    """All that is sent: instructions, data, and the form of the answer as a JSON schema."""

    # The name and the version of the file with the instructions, such as `explain 1`.
    name: str
    system: str
    user: str
    form: dict[str, Any]


class TokenCounts(Struct, frozen=True):
    """What a request used, as the provider counts it."""

    input: int = 0
    output: int = 0


class Reply(Struct, frozen=True):
    """A complete answer. `ended` says why the model stopped; None if its stream just ended."""

    text: str
    ended: Literal["stop", "length", "refused", "other"] | None
    tokens: TokenCounts
    # The words of the provider about a refusal, if it has any.
    why: str = ""


# Takes each piece of the answer's text as it arrives.
OnText = Callable[[str], None]


class LanguageModel(Protocol):
    """A model of one provider. It neither retries nor waits; that is for `asking.py`."""

    async def ask(self, prompt: Prompt, max_tokens: int, on_text: OnText) -> Reply:
        """Send a prompt, pass on the text as it arrives, and return the complete answer.

        Raises an `AiError`, or a `TryAgainError` if another try may help.
        """

    async def close(self) -> None:
        """Close the connections."""


class TryAgainError(Exception):
    """The provider did not answer this time. `failure` is the line to show after the last try.

    `wait` is how many seconds the provider asks to wait; None if it does not say.
    """

    def __init__(self, failure: str, wait: float | None = None) -> None:
        super().__init__(failure)
        self.failure = failure
        self.wait = wait

    def as_error(self) -> NotReachableError:
        """Return the error for those who do not try again."""
        return NotReachableError(self.failure)
