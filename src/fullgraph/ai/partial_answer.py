"""Reads the JSON of an answer while it arrives, so that its texts can be shown at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fullgraph.terminal import encodable

_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HEX = frozenset("0123456789abcdefABCDEF")


class Piece(NamedTuple):
    """Some more text of a field of the answer."""

    field: str
    text: str


class PartialAnswer:
    """Gets the text of an answer in pieces; yields the texts of its outermost object.

    What is before the object, such as the fence of a code block, and what is in inner objects and
    lists, is left out. Text that is no JSON yields nothing more.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        # What is inside of a string: its text so far, if it is a key, and an unfinished escape.
        self._key = ""
        self._is_value = False
        self._escape = ""
        self._high = ""
        self._ended = False

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the text that the next piece adds, joined per field."""
        field, found = "", ""
        for character in text:
            added = self._next(character)
            if not added:
                continue
            if field != self._key and found:
                yield Piece(field, found)
                found = ""
            field = self._key
            found += added
        if found:
            yield Piece(field, found)

    def _next(self, character: str) -> str:
        """Take one character; return what it adds to the text of the current field."""
        if self._ended:
            return ""
        if self._in_string:
            return self._in_text(character)
        if character == '"' and self._depth:
            self._in_string = True
            if self._depth == 1 and not self._is_value:
                self._key = ""
        elif character in "{[" and (self._depth or character == "{"):
            self._depth += 1
        elif character in "}]" and self._depth:
            self._depth -= 1
            self._ended = not self._depth
        elif self._depth == 1 and character == ":":
            self._is_value = True
        elif self._depth == 1 and character == ",":
            self._is_value = False
        return ""

    def _in_text(self, character: str) -> str:
        if self._escape:
            return self._add(self._unescaped(character))
        if character == "\\":
            self._escape = "\\"
            return ""
        if character == '"':
            self._in_string = False
            self._high = ""
            return ""
        return self._add(character)

    def _add(self, text: str) -> str:
        if not text or self._depth != 1:
            return ""
        if not self._is_value:
            self._key += text
            return ""
        return encodable(text)

    def _unescaped(self, character: str) -> str:
        """Return the text of an escape such as `\\u00e9` when it is complete; empty before that."""
        self._escape += character
        if self._escape == "\\u" or (
            self._escape.startswith("\\u") and len(self._escape) < 6 and character in _HEX
        ):
            return ""
        escape, self._escape = self._escape, ""
        if not escape.startswith("\\u"):
            return _ESCAPED.get(character, character)
        if len(escape) < 6:
            return "\ufffd"
        return self._joined(chr(int(escape[2:], 16)))

    def _joined(self, character: str) -> str:
        """Return a character; the first half of a surrogate pair waits for the second one."""
        high, self._high = self._high, ""
        if "\ud800" <= character <= "\udbff":
            self._high = character
            return ""
        if high and "\udc00" <= character <= "\udfff":
            return (high + character).encode("utf-16", "surrogatepass").decode("utf-16")
        return character
