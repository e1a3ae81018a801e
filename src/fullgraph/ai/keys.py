"""The keys of providers: read from the environment or from the system's keyring, and never kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from msgspec import Struct

from fullgraph.ai.errors import SetupError

# The variables in which each provider's key can be; the first that is set counts.
KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
# Under this name of a service the keyring has the keys; the names of users are those of variables.
KEYRING_SERVICE = "fullgraph"
# Keys that were found, so that those of the keyring are masked as well.
_found: set[str] = set()
# A shorter value is no key, and would mask words.
_SHORTEST = 6


class Key(Struct, frozen=True):
    """A key and where it was found. Its text never shows the key."""

    value: str
    # `OPENAI_API_KEY`, or `keyring`.
    found_in: str

    def __repr__(self) -> str:
        return f"Key(from {self.found_in})"


def find_key(provider: str, environment: Mapping[str, str] = os.environ) -> Key | None:
    """Return the key of a provider; None if there is none."""
    for name in KEY_VARIABLES[provider]:
        if value := environment.get(name, "").strip():
            return _checked(Key(value, name))
    for name in KEY_VARIABLES[provider]:
        if value := _from_keyring(name):
            return _checked(Key(value, "keyring"))
    return None


def _checked(key: Key) -> Key:
    if not (key.value.isascii() and key.value.isprintable()) or " " in key.value:
        raise SetupError(
            f"the key from {key.found_in} has characters that no key has; copy it again"
        )
    _found.add(key.value)
    return key


def _from_keyring(name: str) -> str:
    if find_spec("keyring") is None:
        return ""
    import keyring

    try:
        return (keyring.get_password(KEYRING_SERVICE, name) or "").strip()
    except Exception:
        # A keyring that is locked, or a system without one, is the same as no key.
        return ""


def configured_values(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the values of all keys that are known, to be masked wherever they appear."""
    names = (name for names in KEY_VARIABLES.values() for name in names)
    values = [environment.get(name, "").strip() for name in names]
    return tuple(dict.fromkeys(v for v in [*values, *sorted(_found)] if len(v) >= _SHORTEST))
