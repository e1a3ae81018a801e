"""Replaces what looks like a secret, and paths of this machine, before text is sent or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "[masked]"

# Forms of keys that providers document.
_KNOWN_KEYS = re.compile(
    r"\b(?:"
    r"sk-[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"  # Stripe
    r"|AIza[A-Za-z0-9_-]{30,}"  # Google
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"  # GitHub
    r"|glpat-[A-Za-z0-9_-]{16,}"  # GitLab
    r"|hf_[A-Za-z0-9]{20,}"  # Hugging Face
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web tokens
    r")"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_SECRET_WORD = (
    r"(?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|passphrase|credential|auth[_-]?token"
    r"|access[_-]?token|token)"
)
# password = "…", "api_key": "…", token="…"; special tokens of a language such as "<pad>" are none.
_QUOTED = re.compile(
    rf"(?i)(\b[\w.-]*{_SECRET_WORD}\w*[\"']?\]?\s*(?::\s*\w+\s*)?[:=,]\s*[rbf]?)([\"'])"
    rf"(?![<\[])([^\"'\n]{{4,}})\2"
)
# SECRET_KEY=… as in the environment or in a command.
_UNQUOTED = re.compile(
    r"(\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)\s*=\s*)(?![\"'\[<(\s])"
    r"([^\s\"']{6,})"
)
_BEARER = re.compile(r"(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._-]{12,}")
_HEADER = re.compile(r"(?i)(\bx-(?:goog-)?api-key[\"']?\s*[:=]\s*[\"']?)[^\s\"']{6,}")
_IN_ADDRESS = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/:@\"']+:[^\s/@\"']+@")
# Random text: long, with small and capital letters and digits, in quotes.
_RANDOM = re.compile(
    r"(?<=[\"'])(?=[^\"']*[a-z])(?=[^\"']*[A-Z])(?=[^\"']*\d)[A-Za-z0-9+/=_-]{32,}(?=[\"'])"
)
_HOME = re.compile(r"(?<![\w./\\-])(?:/home|/Users)/[^/\s\"':]+|\b[A-Z]:\\Users\\[^\\\s\"':]+")
_HEXADECIMAL = re.compile(r"(?<=[\"'])[0-9a-f]{32,}(?=[\"'])")


def mask_secrets(text: str, values: Iterable[str] = ()) -> str:
    """Return `text` without these values and without what looks like a secret."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, MASK)
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _KNOWN_KEYS.sub(MASK, text)
    text = _QUOTED.sub(rf"\1\2{MASK}\2", text)
    text = _UNQUOTED.sub(rf"\1{MASK}", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _HEADER.sub(rf"\1{MASK}", text)
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    text = _RANDOM.sub(MASK, text)
    return _HEXADECIMAL.sub(MASK, text)


class ValueMasker:
    """Masks some values in a text that arrives in pieces; a value may be split over them."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = sorted(values, key=len, reverse=True)
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the next piece; its end is held back while it may be the start of a value."""
        text = self._held + piece
        for value in self._values:
            text = text.replace(value, MASK)
        held = max((_overlap(text, value) for value in self._values), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def end(self) -> str:
        """Return what is still held back."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, value: str) -> int:
    """Return how many characters at the end of a text are the start of a value."""
    for size in range(min(len(text), len(value) - 1), 0, -1):
        if text.endswith(value[:size]):
            return size
    return 0


def relative_paths(text: str, folders: Iterable[str], home: str = "") -> str:
    """Return `text` with the paths below `folders` relative to them, and `~` for the home folder.

    The longest folder counts, so that a path below a package folder inside of the project is short.
    """
    named = [each.rstrip("/\\") for each in folders]
    for folder in sorted({each for each in named if len(each) > 1}, key=len, reverse=True):
        text = re.sub(rf"(?<![\w./\\-]){re.escape(folder)}[/\\]", "", text)
        text = re.sub(rf"(?<![\w./\\-]){re.escape(folder)}(?![\w./\\-])", ".", text)
    stem = home.rstrip("/\\")
    if len(stem) > 1:
        text = re.sub(rf"(?<![\w./\\-]){re.escape(stem)}(?=[/\\]|\b)", "~", text)
    # A log may come from another machine.
    return _HOME.sub("~", text)
