"""OpenAI, and every server that speaks its chat completions: Ollama, vLLM, llama.cpp, LM Studio."""

from __future__ import annotations

import re
from typing import Any

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from fullgraph.ai.providers._pydantic import NO_KEY
from fullgraph.ai.selection import Provider, Selection

# Models of OpenAI, also behind a proxy; those that reason refuse the older name.
_OWN_NAMES = re.compile(r"(?:openai/)?(?:gpt-(?!oss)|o\d|chatgpt)")


def model(selection: Selection, http: httpx2.AsyncClient) -> Model[Any]:
    """Return the model; its client does not retry."""
    provider = OpenAIProvider(openai_client=_client(selection.provider, http))
    name = selection.model.name
    if not selection.provider.own_address or _OWN_NAMES.match(name):
        return OpenAIChatModel(name, provider=provider)
    # Other servers, such as Ollama, know the limit of an answer only by its older name.
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(name, provider=provider, profile=profile)


async def names(provider: Provider, http: httpx2.AsyncClient) -> list[str]:
    """Return the names of the models that the provider offers."""
    return [each.id for each in (await _client(provider, http).models.list()).data]


def _client(provider: Provider, http: httpx2.AsyncClient) -> AsyncOpenAI:
    return AsyncOpenAI(
        api_key=provider.key.value if provider.key else NO_KEY,
        base_url=provider.address,
        max_retries=0,
        http_client=http,
    )
