"""Which model is asked: from `--model` or `FULLGRAPH_MODEL` to a provider, a name, an address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from fullgraph.ai.errors import SetupError
from fullgraph.ai.keys import KEY_VARIABLES, Key, find_key
from fullgraph.ai.masking import mask_secrets

MODEL_VARIABLE = "FULLGRAPH_MODEL"
ADDRESS_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
}
DEFAULT_ADDRESSES = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
PROVIDERS = tuple(sorted(DEFAULT_ADDRESSES))
_EXAMPLE = "google:gemini-2.5-flash"


class ModelName(Struct, frozen=True):
    """A model as users write it: `openai:gpt-5`."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


class Provider(Struct, frozen=True):
    """A provider as it is configured."""

    name: str
    # Where requests go, and whether the user has set that.
    address: str
    own_address: bool
    key: Key | None

    @property
    def shown_address(self) -> str:
        """The address without a password that may be in it."""
        return mask_secrets(self.address)

    @property
    def is_configured(self) -> bool:
        """Whether there is a key, or an address of the user's own, which may need none."""
        return self.key is not None or self.own_address


class Selection(Struct, frozen=True):
    """The model to ask and its provider."""

    model: ModelName
    provider: Provider


def select(given: str | None, environment: Mapping[str, str] = os.environ) -> Selection:
    """Return the model to ask; SetupError says what to set if there is none, or no key."""
    model = model_name(chosen_text(given, environment))
    provider = provider_named(model.provider, environment)
    if not provider.is_configured:
        keys = " or ".join(KEY_VARIABLES[model.provider])
        raise SetupError(
            f"there is no key for {model.provider}; set {keys}, or "
            f"{ADDRESS_VARIABLES[model.provider]} for a server that needs no key"
        )
    return Selection(model, provider)


def chosen_text(given: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the chosen model as the user writes it; empty if none is chosen."""
    return given if given is not None else environment.get(MODEL_VARIABLE, "").strip()


def model_name(text: str) -> ModelName:
    """Return `PROVIDER:NAME` as a struct; SetupError says what to write instead."""
    if not text.strip():
        raise SetupError(
            f"no model is set; name one with --model PROVIDER:NAME or {MODEL_VARIABLE}, such as "
            f"{MODEL_VARIABLE}={_EXAMPLE}, and set its key; fullgraph ai models shows what is set"
        )
    provider, separator, name = text.strip().partition(":")
    if not separator or not name.strip() or provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise SetupError(
            f"{text.strip()!r} is not a model; write PROVIDER:NAME, such as {_EXAMPLE}, with one "
            f"of the providers {known} (openai is for every server with OpenAI's protocol)"
        )
    return ModelName(provider, name.strip())


def provider_named(name: str, environment: Mapping[str, str] = os.environ) -> Provider:
    """Return how a provider is configured; SetupError if its address is not one."""
    variable = ADDRESS_VARIABLES[name]
    own = environment.get(variable, "").strip()
    if own and not _is_address(own):
        raise SetupError(f"{variable} is not an address; it must start with http:// or https://")
    return Provider(name, own or DEFAULT_ADDRESSES[name], bool(own), find_key(name, environment))


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # An impossible port is an error only when it is read.
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
