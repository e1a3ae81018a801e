"""Runs the user's program in this process, as `python` would, and records its calls."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
import types
from typing import NamedTuple

import torch

from fullgraph.fix.record.recorder import CallRecorder


class RecordedProgram(NamedTuple):
    """The recorded calls, and the error that the program ended with."""

    recorder: CallRecorder
    error: str
    # The last lines of the error's traceback.
    details: str


def record_program(target: list[str]) -> RecordedProgram:
    """Run `SCRIPT [ARG]...` or `-m MODULE [ARG]...` in eager mode and record its calls."""
    # A forked child would wait forever for threads that only its parent has.
    torch.set_num_threads(1)
    recorder = CallRecorder()
    uninstall = recorder.install()
    error, details = _run(target)
    uninstall()
    return RecordedProgram(recorder, error, details)


def _run(target: list[str]) -> tuple[str, str]:
    """Run the program; return its error, which is empty without one, and the end of a traceback."""
    try:
        if target[0] == "-m":
            sys.argv = target[1:]
            runpy.run_module(target[1], run_name="__main__", alter_sys=True)
        else:
            _run_script(target)
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            return f"it ended with exit code {leaving.code}", ""
    except EOFError:
        return "it reads from standard input, which is closed here", ""
    except BaseException as error:
        lines = traceback.format_exception(error)
        return f"{type(error).__name__}: {error}".splitlines()[0], "".join(lines[-3:])
    return "", ""


def _run_script(target: list[str]) -> None:
    """Run a script as `python SCRIPT` does. Its module stays: recorded functions live in it."""
    script = target[0]
    sys.argv = target
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = main_module
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    exec(code, main_module.__dict__)
