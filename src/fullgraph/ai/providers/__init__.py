"""One file per provider, found by its name: from a `Selection` to a `LanguageModel`.

A file such as `providers/openai.py` has `model(selection, http) -> Model`, which builds the model
of pydantic-ai. Only the files here import that package, and only when they are used.
"""

from __future__ import annotations

from importlib import import_module

from fullgraph.ai.errors import SetupError
from fullgraph.ai.protocol import LanguageModel
from fullgraph.ai.selection import Selection


def open_model(selection: Selection) -> LanguageModel:
    """Return the model to ask; SetupError if the package of its provider is not installed."""
    name = selection.model.provider
    try:
        builder = import_module(f"fullgraph.ai.providers.{name}")
    except ImportError as error:
        raise _not_installed(name, error) from None
    from fullgraph.ai.providers._pydantic import PydanticModel
    from fullgraph.ai.providers._watched_http import WatchedHttp

    http = WatchedHttp()
    return PydanticModel(selection, builder.model(selection, http.client), http)


def _not_installed(name: str, error: ImportError) -> SetupError:
    missing = (error.name or "").partition(".")[0]
    if missing and missing not in ("pydantic_ai", "openai", "anthropic", "google", "httpx2"):
        return SetupError(f"the package for {name} cannot be imported: {error}")
    return SetupError(
        f"the package for {name} is not installed; install it with pip install 'fullgraph[{name}]'"
    )
