"""Removes terminal sequences and control characters from a text, also if it arrives in pieces."""

from __future__ import annotations

from fullgraph.terminal import encodable, printable

_ESCAPE, _STRING_END = "\x1b", "\x07"
# The one-character forms of ESC [ and of the sequences that contain text.
_CONTROL_SEQUENCE, _STRINGS = "\x9b", "\x90\x98\x9d\x9e\x9f"
_STRING_STARTS = "]P_^X"
# What a sequence with text can be at most; terminals give up earlier.
_LONGEST = 512


class EscapeRemover:
    """Gets a text in pieces and returns the pieces without sequences; its state is between them."""

    def __init__(self) -> None:
        # `text`, `escape` (after ESC), `sequence` (after ESC [), `string` (after ESC ] and others).
        self._state = "text"
        self._length = 0

    def feed(self, piece: str) -> str:
        """Return what is left of the next piece of text."""
        kept = [character for character in piece if self._keeps(character)]
        return printable("".join(kept).expandtabs(4).replace("\r", ""))

    def _keeps(self, character: str) -> bool:
        state = self._state
        if character == _ESCAPE:
            self._state = "escape"
            return False
        if state == "string":
            self._length += 1
            if character in (_STRING_END, "\x9c", "\n") or self._length > _LONGEST:
                self._state = "text"
            return character == "\n"
        if state == "escape":
            self._state = self._after_escape(character)
            return character == "\n"
        if state == "sequence":
            if "\x40" <= character <= "\x7e" or character == "\n":
                self._state = "text"
            elif not "\x20" <= character <= "\x3f":
                # No sequence after all.
                self._state = "text"
                return self._keeps(character)
            return character == "\n"
        if character == _CONTROL_SEQUENCE:
            self._state = "sequence"
            return False
        if character in _STRINGS:
            self._state, self._length = "string", 0
            return False
        return True

    def _after_escape(self, character: str) -> str:
        if character == "[":
            return "sequence"
        if character in _STRING_STARTS:
            self._length = 0
            return "string"
        # ESC ( B and the like have more characters before the last one.
        return "escape" if "\x20" <= character <= "\x2f" else "text"


def without_escapes(text: str) -> str:
    """Return a whole text without terminal sequences and control characters."""
    return EscapeRemover().feed(encodable(text))
