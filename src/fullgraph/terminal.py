"""Format lines for a terminal: width, colors, and text without control characters."""

from __future__ import annotations

import re
import textwrap

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# The width of the labels at the left.
LABEL = 10


class Terminal:
    """Formats lines for one width, with or without colors."""

    def __init__(self, width: int = 80, color: bool = False) -> None:
        self.width = max(width, 40)
        self._color = color

    def style(self, text: str, style: str) -> str:
        """Return `text` in a style such as "bold"; unchanged without colors."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._color and style else text

    def wrapped(self, text: str, first: str = "", following: str = "") -> list[str]:
        """Return lines that fit into the width; line breaks in the text are kept."""
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
        """Return wrapped lines with a label at the left of the first."""
        return self.wrapped(text, f"{label:<{LABEL}}", " " * LABEL)

    def clipped(self, text: str) -> str:
        """Return `text`, cut to the width."""
        return text if len(text) <= self.width else text[: self.width - 1] + "…"


def clean(text: str) -> str:
    """Return `text` with tabs expanded and control characters replaced."""
    return _CONTROL.sub("�", text.expandtabs(4))
