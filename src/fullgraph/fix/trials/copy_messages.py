"""What is sent to the process that runs a changed copy of the program, and what it answers."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.fix.model import Settings

REQUEST_FILE = "copy-request.json"
RESULT_FILE = "copy-result.json"


class CopyRequest(Struct, frozen=True):
    """A program to run from other text as far as some calls."""

    # The text of each changed file, by its real path.
    texts: dict[str, str]
    # The names of the compiled functions that have to be called.
    functions: tuple[str, ...]
    # What has to be in effect when they are called.
    settings: Settings = {}


class CopyResult(Struct, frozen=True):
    """How the copy ended, and the calls of compiled functions in it."""

    error: str
    # The innermost line of the user's code in the error's traceback.
    details: str
    # The name of each function, with digests of its inputs and of its result.
    calls: tuple[str, ...]
