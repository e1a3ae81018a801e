"""Google's Gemini API."""

from __future__ import annotations

from typing import Any

import httpx2
from google.genai.types import HttpRetryOptions
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from fullgraph.ai.providers._pydantic import NO_KEY
from fullgraph.ai.selection import Provider, Selection


def model(selection: Selection, http: httpx2.AsyncClient) -> Model[Any]:
    """Return the model; its client does not retry."""
    return GoogleModel(selection.model.name, provider=_provider(selection.provider, http))


async def names(provider: Provider, http: httpx2.AsyncClient) -> list[str]:
    """Return the names of the models that the provider offers."""
    pages = await _provider(provider, http).client.aio.models.list()
    return [(each.name or "").removeprefix("models/") for each in pages.page]


def _provider(provider: Provider, http: httpx2.AsyncClient) -> GoogleProvider:
    return GoogleProvider(
        api_key=provider.key.value if provider.key else NO_KEY,
        base_url=provider.address,
        http_client=http,
        retry_options=HttpRetryOptions(attempts=1),
    )
