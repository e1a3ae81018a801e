"""Format lines for a terminal: width, colors, and text without control characters."""

from __future__ import annotations

import re
import textwrap

# Control characters could write to the terminal, and directional ones could reorder a line. Halves
# of surrogate pairs cannot be encoded. Tabs and line feeds are handled by the callers.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_REPLACEMENT = "\ufffd"
# The width of the labels at the left.
LABEL = 10


class Terminal:
    """Formats lines for one width, with or without colors.

    `cut` says whether lines that have no place to break at may be cut to the width. They are not
    cut in a file or a pipe, where nothing must be lost.
    """

    def __init__(self, width: int = 80, color: bool = False, cut: bool = False) -> None:
        self.width = max(width, 40)
        self.cut = cut
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
        """Return `text`, cut to the width if lines may be cut."""
        if not self.cut or len(text) <= self.width:
            return text
        return text[: self.width - 1] + "…"


def clean(text: str) -> str:
    """Return `text` with tabs expanded and unprintable characters replaced."""
    return printable(text.expandtabs(4))


def one_line(text: str) -> str:
    """Return `text` without line breaks and unprintable characters."""
    return " ".join(clean(text).split())


def printable(text: str) -> str:
    """Return `text` with unprintable characters replaced one by one; tabs and line feeds stay."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


def encodable(text: str) -> str:
    """Return `text` with the halves of surrogate pairs replaced, which no encoding has."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
