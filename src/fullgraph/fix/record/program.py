"""Runs the user's program in this process, as `python` would, and records its calls."""

from __future__ import annotations

import os
import runpy
import sys
import time
import traceback
import types
from importlib.util import find_spec
from typing import NamedTuple

import torch

import fullgraph
from fullgraph.fix.record.loaded_sources import LoadedSources
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.model.owners import YOURS, is_generated, this_process

# An editable install of fullgraph counts as the user's code.
_OUR_FOLDER = os.path.join(os.path.dirname(fullgraph.__file__), "")


class RecordedProgram(NamedTuple):
    """The recorded calls, and the error that the program ended with."""

    recorder: CallRecorder
    error: str
    # The innermost line of the user's code in the error's traceback.
    details: str
    # The file that ran as `__main__`; empty if it is not known.
    main_file: str
    # What the user's files contained when they were loaded.
    sources: LoadedSources
    seconds: float


def record_program(
    target: list[str], recorder: CallRecorder, script_text: str | None = None
) -> RecordedProgram:
    """Run `SCRIPT [ARG]...` or `-m MODULE [ARG]...` in eager mode and record its calls.

    `script_text` is run in place of the text of the script's file.
    """
    # A forked child would wait forever for threads that only its parent has.
    torch.set_num_threads(1)
    sources = LoadedSources()
    if target[0] != "-m":
        sources.note(target[0])
    uninstall, stop = recorder.install(), sources.install()
    started = time.monotonic()
    error, details = run_target(target, script_text)
    seconds = time.monotonic() - started
    uninstall()
    stop()
    for number, call in enumerate(recorder.calls, 1):
        call.number = number
    return RecordedProgram(recorder, error, details, main_file(target), sources, seconds)


def main_file(target: list[str]) -> str:
    """Return the file that runs as `__main__`; empty if the module has no source file.

    Finding a module imports its package, so this is for the process that has run the program.
    """
    if target[0] != "-m":
        return target[0]
    try:
        spec = find_spec(target[1])
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{target[1]}.__main__")
    except (ImportError, ValueError):
        return ""
    file = spec.origin if spec is not None and spec.has_location else None
    return file if file is not None and file.endswith(".py") else ""


def run_target(target: list[str], script_text: str | None = None) -> tuple[str, str]:
    """Run the program; return its error, which is empty without one, and the user's line.

    `script_text` is run in place of the text of the script's file, under the same name.
    """
    try:
        if target[0] == "-m":
            sys.argv = target[1:]
            runpy.run_module(target[1], run_name="__main__", alter_sys=True)
        else:
            _run_script(target, script_text)
    except SystemExit as leaving:
        if leaving.code in (None, 0):
            return "", ""
        # Python prints what is no number, and the exit code is 1.
        kind = "exit code" if isinstance(leaving.code, int) else "SystemExit:"
        return f"it ended with {kind} {leaving.code}".splitlines()[0], ""
    except EOFError:
        return "it reads from standard input, which is closed here", ""
    except BaseException as error:
        return f"{type(error).__name__}: {error}".splitlines()[0], users_line(error)
    return "", ""


def users_line(error: BaseException) -> str:
    """Return the innermost line of the user's code that leads to an error; empty without one."""
    if isinstance(error, SyntaxError):
        return f"{this_process().display_path(error.filename or '')}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        owned = this_process().owner_of(frame.filename) == YOURS
        if (
            owned
            and not frame.filename.startswith(_OUR_FOLDER)
            and not is_generated(frame.filename)
        ):
            path = this_process().display_path(frame.filename)
            return f"{path}:{frame.lineno}: {frame.line}"
    return ""


def _run_script(target: list[str], text: str | None) -> None:
    """Run a script as `python SCRIPT` does. Its module stays: recorded functions live in it."""
    script = target[0]
    sys.argv = target
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = main_module
    with open(script, "rb") as file:
        source = file.read() if text is None else text
    exec(compile(source, script, "exec", dont_inherit=True), main_module.__dict__)
