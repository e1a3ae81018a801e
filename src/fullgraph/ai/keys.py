"""The keys of providers: read from the environment or from the system's keyring, and never kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from msgspec import Struct

# The variables in which each provider's key can be; the first that is set counts.
KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
# Under this name of a service the keyring has the keys; the names of users are those of variables.
KEYRING_SERVICE = "fullgraph"
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
            return Key(value, name)
    for name in KEY_VARIABLES[provider]:
        if value := _from_keyring(name):
            return Key(value, "keyring")
    return None


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
    """Return the values of all keys in the environment, to be masked wherever they appear."""
    names = (name for names in KEY_VARIABLES.values() for name in names)
    values = (environment.get(name, "").strip() for name in names)
    return tuple(dict.fromkeys(each for each in values if len(each) >= _SHORTEST))
