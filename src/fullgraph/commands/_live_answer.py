"""Shows an answer in a terminal while it arrives, before anything in it is checked."""

from __future__ import annotations

from typing import IO

from fullgraph.ai.escapes import EscapeRemover
from fullgraph.ai.partial_answer import PartialAnswer
from fullgraph.render.explanation.text import LABELS
from fullgraph.terminal import LABEL, Terminal

_NOT_CHECKED = "not checked yet, as the model writes it:"


class LiveAnswer:
    """Writes the texts of an answer, wrapped, as they arrive."""

    def __init__(self, stream: IO[str], terminal: Terminal) -> None:
        self._stream = stream
        self._terminal = terminal
        self._reader = PartialAnswer()
        self._field = ""
        self._escapes = EscapeRemover()
        # The text since the last space, and the column after what is written.
        self._word = ""
        self._column = 0
        # The part of the last word that is written, if its end has not arrived yet.
        self._written = ""
        self.has_written = False

    def feed(self, text: str) -> None:
        """Write what the next piece of the answer adds."""
        for piece in self._reader.feed(text):
            if piece.field not in LABELS and piece.field != "snippet":
                continue
            if piece.field != self._field:
                self._start(piece.field)
            self._add(self._escapes.feed(piece.text))
        self._stream.flush()

    def end(self) -> None:
        """Finish the last line."""
        self._end_word()
        if self._column:
            self._write("\n")
            self._column = 0
        if self._field == "snippet":
            self._write("\n")
        self._field = ""
        self._stream.flush()

    def _start(self, field: str) -> None:
        if not self.has_written:
            self._write(self._terminal.style(_NOT_CHECKED, "dim") + "\n")
            self.has_written = True
        self.end()
        self._field, self._escapes = field, EscapeRemover()
        if field == "snippet":
            self._write("\n    ")
            self._column = 4
        else:
            self._write(f"{LABELS[field]:<{LABEL}}")
            self._column = LABEL

    def _add(self, text: str) -> None:
        if self._field == "snippet":
            self._write(text.replace("\n", "\n    "))
            return
        for character in text:
            if character in " \n":
                self._end_word()
                if character == "\n":
                    self._new_line()
            else:
                self._word += character
        # A word is written as far as it has come: the next piece may take seconds.
        self._end_word(is_complete=False)

    def _end_word(self, is_complete: bool = True) -> None:
        """Write the text since the last space; it may be a part of a word."""
        word, self._word = self._word, ""
        if word:
            if not self._written:
                self._start_word(word)
            elif self._column + len(word) > self._terminal.width:
                self._move_word()
            self._write(word)
            self._column += len(word)
            self._written += word
        if is_complete:
            self._written = ""

    def _start_word(self, word: str) -> None:
        if self._column <= LABEL:
            return
        if self._column + 1 + len(word) > self._terminal.width:
            self._new_line()
        else:
            self._write(" ")
            self._column += 1

    def _move_word(self) -> None:
        """Move the part of a word that is written already to the next line, where it may fit."""
        part = self._written
        # Others may be wider than one column, and a word that fills a line fits nowhere.
        if not part.isascii() or self._column - len(part) <= LABEL:
            return
        back = "\b" * len(part)
        self._write(f"{back}{' ' * len(part)}{back}")
        self._new_line()
        self._write(part)
        self._column += len(part)

    def _new_line(self) -> None:
        self._write("\n" + " " * LABEL)
        self._column = LABEL

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
