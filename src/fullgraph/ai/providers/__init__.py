"""One file per provider, found by its name: from a `Selection` to a `LanguageModel`.

A file such as `providers/openai.py` has two functions:

    model   from a `Selection` and a client to the model of pydantic-ai
    names   from a `Provider` and a client to the names of the models that it offers

Only the files here import that package, and only when they are used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from fullgraph.ai.errors import SetupError
from fullgraph.ai.protocol import LanguageModel, TryAgainError
from fullgraph.ai.selection import ModelName, Provider, Selection

_PACKAGES = ("pydantic_ai", "openai", "anthropic", "google", "httpx2")


def open_model(selection: Selection) -> LanguageModel:
    """Return the model to ask; SetupError if the package of its provider is not installed."""
    module = _module(selection.model.provider)
    from fullgraph.ai.providers._pydantic import PydanticModel
    from fullgraph.ai.providers._watched_http import WatchedHttp

    http = WatchedHttp()
    return PydanticModel(selection, module.model(selection, http.client), http)


async def offered_names(provider: Provider) -> list[str]:
    """Return the names of the models that a provider offers; an `AiError` if it does not answer."""
    module = _module(provider.name)
    from fullgraph.ai.providers._failures import failure_of
    from fullgraph.ai.providers._watched_http import WatchedHttp

    http = WatchedHttp()
    http.expects_stream = False
    try:
        names: list[str] = await module.names(provider, http.client)
    except Exception as error:
        failure = failure_of(error, Selection(ModelName(provider.name, "list"), provider))
        if isinstance(failure, TryAgainError):
            raise failure.as_error() from None
        raise failure from None
    finally:
        await http.client.aclose()
    return names


def is_installed(name: str) -> bool:
    """Return whether the package of a provider is installed, without importing it."""
    inner = "google.genai" if name == "google" else name
    try:
        return find_spec("pydantic_ai") is not None and find_spec(inner) is not None
    except ModuleNotFoundError:
        return False


def _module(name: str) -> ModuleType:
    try:
        return import_module(f"fullgraph.ai.providers.{name}")
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing and missing not in _PACKAGES:
            raise SetupError(f"the package for {name} cannot be imported: {error}") from None
    raise SetupError(
        f"the package for {name} is not installed; install it with pip install 'fullgraph[{name}]'"
    )
