"""What is configured, and whether it answers: the result of `fullgraph ai models`."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from fullgraph.ai.asking import Limits, Questions
from fullgraph.ai.errors import AiError, NotReachableError
from fullgraph.ai.prompts import instructions
from fullgraph.ai.protocol import Prompt
from fullgraph.ai.providers import is_installed, offered_names, open_model
from fullgraph.ai.selection import (
    PROVIDERS,
    Provider,
    chosen_text,
    provider_named,
    select,
)

# Models that reason use many tokens for a short answer.
_MOST_TOKENS = 1000
_FORM = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


class ProviderState(Struct, frozen=True):
    """One provider: how it is configured, and what it offers."""

    name: str
    # Where the key was found, such as `OPENAI_API_KEY` or `keyring`; empty without a key.
    key: str
    address: str
    own_address: bool
    installed: bool
    # None if it was not asked, because nothing is configured.
    answers: bool | None
    models: tuple[str, ...] = ()
    problem: str = ""
    exit_code: int = 0


class ModelState(Struct, frozen=True):
    """The chosen model, and whether it answers."""

    name: str
    answers: bool
    seconds: float = 0.0
    cost: float | None = None
    problem: str = ""
    exit_code: int = 0


class Reachability(Struct, frozen=True):
    """All providers, and the chosen model; None if there is none."""

    model: ModelState | None
    providers: tuple[ProviderState, ...]

    @property
    def exit_code(self) -> int:
        """0 if the chosen model answers, or any provider if no model is chosen."""
        if self.model is not None:
            return self.model.exit_code
        asked = [each for each in self.providers if each.answers is not None]
        if any(each.answers for each in asked):
            return 0
        return asked[0].exit_code if asked else 2


def look_around(model: str | None, timeout: float) -> Reachability:
    """Ask every configured provider for its models, and the chosen model for an answer."""
    name = chosen_text(model)
    states = asyncio.run(_states(timeout))
    return Reachability(_try_model(name, timeout) if name else None, states)


async def _states(timeout: float) -> tuple[ProviderState, ...]:
    states = [_state(provider_named(name), timeout) for name in PROVIDERS]
    return tuple(await asyncio.gather(*states))


async def _state(provider: Provider, timeout: float) -> ProviderState:
    answers: bool | None = None
    models: list[str] = []
    problem, code = "", 0
    if provider.is_configured:
        try:
            async with asyncio.timeout(timeout):
                models = await offered_names(provider)
            answers = True
        except TimeoutError:
            answers, code = False, NotReachableError.exit_code
            problem = f"{provider.shown_address} did not answer within {timeout:g} s"
        except AiError as error:
            answers, problem, code = False, str(error), error.exit_code
    return ProviderState(
        name=provider.name,
        key=provider.key.found_in if provider.key else "",
        address=provider.shown_address,
        own_address=provider.own_address,
        installed=is_installed(provider.name),
        answers=answers,
        models=tuple(models),
        problem=problem,
        exit_code=code,
    )


def _try_model(name: str, timeout: float) -> ModelState:
    chosen = instructions("hello")
    prompt = Prompt(chosen.label, chosen.text, "Are you there?", _FORM)
    try:
        questions = Questions(select(name), open_model, Limits(timeout, _MOST_TOKENS))
        _, used = questions.ask(prompt)
    except AiError as error:
        return ModelState(name, answers=False, problem=str(error), exit_code=error.exit_code)
    return ModelState(name, answers=True, seconds=used.seconds, cost=used.cost)
