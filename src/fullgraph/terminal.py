"""Lines for a terminal: they fit, may have colours, and text from elsewhere cannot steer it."""

from __future__ import annotations

import re
import textwrap

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# How much room the words at the left of a page have.
LABEL = 10


class Terminal:
    """How wide lines may be, and whether they may have colours."""

    def __init__(self, width: int = 80, color: bool = False) -> None:
        self.width = max(width, 40)
        self._color = color

    def style(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._color and style else text

    def wrapped(self, text: str, first: str = "", following: str = "") -> list[str]:
        """Lines that fit; a line break in the text stays one."""
        lines: list[str] = []
        for paragraph in clean(text).split("\n"):
            lines += textwrap.wrap(
                paragraph,
                self.width,
                initial_indent=following if lines else first,
                subsequent_indent=following,
                break_on_hyphens=False,
                break_long_words=False,
            )
        return lines or [first.rstrip()]

    def labelled(self, label: str, text: str) -> list[str]:
        return self.wrapped(text, f"{label:<{LABEL}}", " " * LABEL)

    def clipped(self, text: str) -> str:
        return text if len(text) <= self.width else text[: self.width - 1] + "…"


def clean(text: str) -> str:
    """Text from elsewhere must not steer the terminal."""
    return _CONTROL.sub("�", text.expandtabs(4))
