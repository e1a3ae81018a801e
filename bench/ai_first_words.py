"""Measure how long the first words of a model take to a terminal.

`fullgraph explain --ai` asks a server on loopback, in a terminal. The server and the reader of the
terminal are in this process, so the time between sending the words and seeing them is a difference
of one clock. Starting the command and asking are not part of it: they take the time of the
provider's package, which is imported before the question is sent.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile
import threading
import time
from statistics import median

from tests.ai.answers import answer
from tests.ai.loopback import Says, serve

RUNS = 11
MOST = 0.1
_WORDS = "FIRSTWORDS"
_COMMAND = [
    sys.executable, "-m", "fullgraph", "explain", "--ai", "GB0124", "--model", "openai:gpt-5-mini",
]  # fmt: skip


def main() -> bool:
    """Print the median and the longest time, and return whether the median is short enough."""
    _seconds()  # the first run writes the bytecode
    times = [_seconds() for _ in range(RUNS)]
    print(
        f"ai_first_words: {median(times) * 1000:.0f} ms from the server's first words to the "
        f"terminal, {max(times) * 1000:.0f} ms at most in {RUNS} runs (at most {MOST * 1000:.0f})"
    )
    return median(times) <= MOST


def _seconds() -> float:
    """Run the command once; return the time between the first words' sending and their showing."""
    text = answer(cause=f"{_WORDS} and more.")
    start = text.index(_WORDS) + len(_WORDS)
    rest = threading.Event()
    says = Says([text[:start], text[start:]], then_waits=rest)
    with serve(says) as server, tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, **server.environment(), "FULLGRAPH_HOME": home}
        master, slave = pty.openpty()
        process = subprocess.Popen(_COMMAND, stdin=slave, stdout=slave, env=environment)
        os.close(slave)
        shown = _wait_for_words(master)
        rest.set()
        _read_rest(master)
        os.close(master)
        if process.wait() != 0:
            sys.exit("ai_first_words: the command failed; its message is above")
    return shown - says.sent[1]


def _wait_for_words(terminal: int) -> float:
    seen = b""
    while _WORDS.encode() not in seen:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            sys.exit(f"ai_first_words: the command ended without an answer: {seen.decode()}")
    return time.perf_counter()


def _read_rest(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        # No process has the terminal any more.
        return
