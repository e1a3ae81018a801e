"""Asks a model: at most three tries, within one limit of time and one of cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from fullgraph.ai.errors import NoAnswerError, NotReachableError, SetupError
from fullgraph.ai.escapes import without_escapes
from fullgraph.ai.keys import configured_values
from fullgraph.ai.masking import ValueMasker, mask_secrets
from fullgraph.ai.prices import Price, price_of
from fullgraph.ai.protocol import LanguageModel, OnText, Prompt, Reply, TryAgainError
from fullgraph.ai.selection import Selection
from fullgraph.terminal import one_line

TRIES = 3
# Seconds: the longest wait that a provider may ask for, and the waits if it asks for none.
LONGEST_WAIT = 30.0
_WAITS = (1.0, 4.0)
# A token is at least so many bytes of text, on average over a prompt; more tokens than real ones.
_BYTES_PER_TOKEN = 2.5
_LONGEST_REASON = 300
# Characters; a server that never stops must not fill the memory until the time is over.
_LONGEST_ANSWER = 1_000_000


class Limits(Struct, frozen=True):
    """What one command may use."""

    # Seconds for all tries of one question.
    timeout: float = 120.0
    max_tokens: int = 8000
    # Dollars for all questions together; None: no limit.
    max_cost: float | None = None


class Usage(Struct, frozen=True):
    """What the questions of one command have used. `cost` is in dollars, None if it is unknown."""

    model: str
    # The instructions and their version, such as `explain 1`.
    prompt: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        both = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            model=self.model,
            prompt=self.prompt or other.prompt,
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=both,
            seconds=self.seconds + other.seconds,
        )


class Questions:
    """Asks one model, and adds up what that uses.

    `notify` gets a line before each wait, so that the terminal shows why nothing happens.
    """

    def __init__(
        self,
        selection: Selection,
        open_model: Callable[[Selection], LanguageModel],
        limits: Limits,
        notify: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._selection = selection
        self._limits = limits
        self._notify = notify
        self._price = price_of(selection)
        self._requests = 0
        # Before the package of the provider is imported, which takes a second.
        if limits.max_cost is not None:
            self._require_price()
        self._open_model = open_model
        self.usage = Usage(str(selection.model), cost=0.0 if self._price else None)

    def ask(self, prompt: Prompt, on_text: OnText = lambda text: None) -> tuple[Reply, Usage]:
        """Return the answer, and what it used; an `AiError` if there is none."""
        self._require_budget(prompt)
        return asyncio.run(self._ask(prompt, on_text))

    async def _ask(self, prompt: Prompt, on_text: OnText) -> tuple[Reply, Usage]:
        model = self._open_model(self._selection)
        before, started = self._requests, time.monotonic()
        try:
            reply = await self._within_time(model, prompt, on_text)
        finally:
            await model.close()
        tokens = reply.tokens
        used = Usage(
            model=str(self._selection.model),
            prompt=prompt.name,
            requests=self._requests - before,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cost=self._price.of(tokens.input, tokens.output) if self._price else None,
            seconds=round(time.monotonic() - started, 3),
        )
        self.usage += used
        self._require_complete(reply)
        return reply, used

    async def _within_time(self, model: LanguageModel, prompt: Prompt, on_text: OnText) -> Reply:
        seconds = self._limits.timeout
        self._last_failure = ""
        try:
            async with asyncio.timeout(seconds):
                return await self._try(model, prompt, on_text)
        except TimeoutError:
            after = f"; the last failure: {self._last_failure}" if self._last_failure else ""
            raise NotReachableError(
                f"{self._selection.model} did not answer within {seconds:g} s{after}; "
                "give it more with --timeout"
            ) from None

    async def _try(self, model: LanguageModel, prompt: Prompt, on_text: OnText) -> Reply:
        shown = 0
        # A server might repeat the header that it was sent.
        masker = ValueMasker(configured_values())

        def pass_on(text: str) -> None:
            nonlocal shown
            shown += len(text)
            if shown > _LONGEST_ANSWER:
                raise NoAnswerError(f"the answer of {self._selection.model} does not end")
            if masked := masker.feed(text):
                on_text(masked)

        for number in range(1, TRIES + 1):
            self._requests += 1
            try:
                reply = await model.ask(prompt, self._limits.max_tokens, pass_on)
            except TryAgainError as error:
                failure, wait = error.failure, error.wait
            else:
                if reply.ended is not None:
                    on_text(masker.end())
                    whole = ValueMasker(configured_values())
                    return replace(reply, text=whole.feed(reply.text) + whole.end())
                failure, wait = f"the answer of {self._selection.model} was cut", None
            self._last_failure = failure
            if shown:
                # A second answer after half of a first one would only confuse.
                raise NotReachableError(f"{failure} in the middle of the answer; ask again")
            if wait is not None and wait > LONGEST_WAIT:
                raise NotReachableError(f"{failure}; try again in {_duration(wait)}")
            if number == TRIES:
                raise NotReachableError(f"{failure}; {TRIES} tries failed")
            seconds = _WAITS[number - 1] if wait is None else wait
            self._notify(f"{failure}; trying again in {seconds:g} s")
            await pause(seconds)
        raise AssertionError("unreachable")

    def _require_complete(self, reply: Reply) -> None:
        name = self._selection.model
        if reply.ended == "refused":
            said = one_line(without_escapes(mask_secrets(reply.why, configured_values())))
            why = f": {said[:_LONGEST_REASON]}" if said else ""
            raise NoAnswerError(f"{name} refused to answer{why}")
        if reply.ended == "length":
            raise NoAnswerError(
                f"the answer of {name} was cut after {self._limits.max_tokens} tokens; give it "
                "more with --max-tokens"
            )
        if not reply.text.strip():
            raise NoAnswerError(f"{name} gave an empty answer; ask again, or ask another model")

    # Cost.

    def _require_price(self) -> Price:
        if self._price is None:
            raise SetupError(
                f"the price of {self._selection.model} is not known, so --max-cost cannot be kept; "
                "leave it out, or limit the answer with --max-tokens"
            )
        return self._price

    def _require_budget(self, prompt: Prompt) -> None:
        """Refuse a question that could cost more than what is left."""
        limit = self._limits.max_cost
        if limit is None:
            return
        size = len(prompt.system.encode()) + len(prompt.user.encode()) + len(str(prompt.form))
        most = self._require_price().of(int(size / _BYTES_PER_TOKEN), self._limits.max_tokens)
        spent = self.usage.cost or 0.0
        if spent + most > limit:
            already = f" after ${spent:.4f}" if spent else ""
            raise SetupError(
                f"the answer could cost up to ${most:.4f}{already}, more than --max-cost "
                f"{limit:g}; lower --max-tokens, or raise --max-cost"
            )


async def pause(seconds: float) -> None:
    """Wait before another try."""
    await asyncio.sleep(seconds)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
