"""OpenAI, and every server that speaks its chat completions: Ollama, vLLM, llama.cpp, LM Studio."""

from __future__ import annotations

from typing import Any

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from fullgraph.ai.providers._pydantic import NO_KEY
from fullgraph.ai.selection import Selection


def model(selection: Selection, http: httpx2.AsyncClient) -> Model[Any]:
    """Return the model; its client does not retry."""
    key = selection.provider.key
    client = AsyncOpenAI(
        api_key=key.value if key else NO_KEY,
        base_url=selection.provider.address,
        max_retries=0,
        http_client=http,
    )
    return OpenAIChatModel(selection.model.name, provider=OpenAIProvider(openai_client=client))
