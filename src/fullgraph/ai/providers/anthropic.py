"""Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from fullgraph.ai.providers._pydantic import NO_KEY
from fullgraph.ai.selection import Selection


def model(selection: Selection, http: httpx2.AsyncClient) -> Model[Any]:
    """Return the model; its client does not retry."""
    key = selection.provider.key
    client = AsyncAnthropic(
        api_key=key.value if key else NO_KEY,
        base_url=selection.provider.address,
        max_retries=0,
        http_client=http,
    )
    provider = AnthropicProvider(anthropic_client=client)
    return AnthropicModel(selection.model.name, provider=provider)
