"""The instructions for models, one readable file each, and the fences around data.

A file has its version between two lines `+++`; raise it with each change of its meaning, so that a
result says which instructions it comes from. Instructions are the system prompt. Data is never in
it: code, logs, entries of the registry and pages go into the other part, each in a fence.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from fullgraph.terminal import printable

_FOLDER = Path(__file__).parent
_FILE = re.compile(r"\A\+\+\+\n(.*?)^\+\+\+\n(.*)\Z", re.MULTILINE | re.DOTALL)
# What chat templates of open models read as the end of a message. Servers that tokenize data as
# they do their own markers would take the rest of it as instructions.
_CHAT_MARKERS = re.compile(
    r"<(?=\|)|\[(?=/?INST\])|<(?=/?(?:start_of_turn|end_of_turn|s)>)|\[(?=/?SYSTEM_PROMPT\])"
)
_JOINER = "\u200d"


class Instructions(Struct, frozen=True):
    """One file of this folder."""

    name: str
    version: int
    text: str

    @property
    def label(self) -> str:
        """The name and the version, as results have them."""
        return f"{self.name} {self.version}"


@cache
def instructions(name: str) -> Instructions:
    """Read the file of a name."""
    text = (_FOLDER / f"{name}.md").read_text("utf-8")
    found = _FILE.match(text)
    if found is None:
        raise ValueError(f"{name}.md has no version between two lines +++")
    version: int = tomllib.loads(found[1])["version"]
    return Instructions(name, version, found[2].strip())


def fenced(title: str, text: str) -> str:
    """Return data between two lines that the data itself cannot contain.

    The lines have a word that is made from the data, so that the same question is the same prompt.
    """
    clean = _CHAT_MARKERS.sub(lambda marker: marker[0] + _JOINER, printable(text)).strip("\n")
    number = 0
    while (word := sha256(f"{number}{clean}".encode()).hexdigest()[:12]) in clean:
        number += 1
    return f"<<<data {word}: {title}\n{clean}\n>>>data {word}"
