"""OpenAI, and every server that speaks its chat completions: Ollama, vLLM, llama.cpp, LM Studio."""

from __future__ import annotations

from typing import Any

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from fullgraph.ai.providers._pydantic import NO_KEY
from fullgraph.ai.selection import Provider, Selection


def model(selection: Selection, http: httpx2.AsyncClient) -> Model[Any]:
    """Return the model; its client does not retry."""
    provider = OpenAIProvider(openai_client=_client(selection.provider, http))
    return OpenAIChatModel(selection.model.name, provider=provider)


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
