"""Google's Gemini API."""

from __future__ import annotations

from typing import Any

import httpx2
from google.genai.types import HttpRetryOptions
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from fullgraph.ai.providers._pydantic import NO_KEY
from fullgraph.ai.selection import Selection


def model(selection: Selection, http: httpx2.AsyncClient) -> Model[Any]:
    """Return the model; its client does not retry."""
    key = selection.provider.key
    provider = GoogleProvider(
        api_key=key.value if key else NO_KEY,
        base_url=selection.provider.address,
        http_client=http,
        retry_options=HttpRetryOptions(attempts=1),
    )
    return GoogleModel(selection.model.name, provider=provider)
