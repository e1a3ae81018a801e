"""Notes child processes that `fullgraph run` cannot capture: Python without our environment.

The options -I, -S and -E, an environment without our variables and another PYTHONPATH keep Python
from importing our sitecustomize. Such a process is not captured, and the report must say so. This
module wraps the functions that start programs. It imports nothing of fullgraph, because the program
may never import torch, and it must not fail: the program would see the exception.
"""

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_PYTHON = re.compile(r"(python|pypy)[\d.]*[a-z]*(\.exe)?", re.IGNORECASE)
# Options of Python with a value, and the options after which nothing is an option.
_WITH_VALUE = "WX"
_LAST = "cm"
_MESSAGE = "a Python process was started without fullgraph's environment"
# Inductor compiles kernels in processes of its own, which run no code of the program.
_INDUCTOR = f"{os.sep}torch{os.sep}_inductor{os.sep}"

_Environment = Mapping[Any, Any] | Sequence[bytes] | None


class ChildProcesses:
    """Writes a problem to `folder` for each child process that is not captured."""

    def __init__(self, folder: str, bootstrap: str) -> None:
        self._folder = folder
        self._bootstrap = bootstrap

    def watch(self) -> None:
        """Wrap the functions that start programs, as far as this system has them."""
        try:
            import _posixsubprocess
        except ImportError:
            return
        # subprocess and multiprocessing use this one.
        _wrap(_posixsubprocess, "fork_exec", after=lambda *a: self._note(a[1], a[0], a[5]))
        for name in ("posix_spawn", "posix_spawnp"):
            _wrap(os, name, after=lambda *a: self._note([a[0]], a[1], a[2]))
        # These do not return, and os.spawn* call them.
        _wrap(os, "execv", before=lambda *a: self._note([a[0]], a[1], None))
        _wrap(os, "execve", before=lambda *a: self._note([a[0]], a[1], a[2]))

    def _note(
        self, paths: Iterable[Any], arguments: Iterable[Any], environment: _Environment
    ) -> None:
        path = next((path for path in map(_text, paths) if os.access(path, os.X_OK)), None)
        if path is None or _is_started_by_inductor():
            return
        command = _python_command(path, [_text(argument) for argument in arguments])
        if command and (_ignores_environment(command) or not self._is_captured(environment)):
            self._write(command)

    def _is_captured(self, environment: _Environment) -> bool:
        """Return whether Python would import our sitecustomize with these variables."""
        variables = _variables(os.environ if environment is None else environment)
        folders = variables.get("PYTHONPATH", "").split(os.pathsep)
        return variables.get("FULLGRAPH_CAPTURE") == self._folder and self._bootstrap in folders

    def _write(self, command: list[str]) -> None:
        import json

        path = os.path.join(self._folder, f"9-children-{os.getpid()}.jsonl")
        # This process may never import torch: it is not a process that captures something.
        header = {"event": "header", "format": 1, "fullgraph": "", "role": "runner"}
        problem = {"event": "problem", "message": _MESSAGE, "command": command}
        is_new = not os.path.exists(path)
        lines = [header, problem] if is_new else [problem]
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, data)
        finally:
            os.close(file)


def _wrap(
    module: Any,
    name: str,
    before: Callable[..., None] | None = None,
    after: Callable[..., None] | None = None,
) -> None:
    """Replace a function by one that calls `before` and `after` with its arguments."""
    original = getattr(module, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def noting(*args: Any, **kwargs: Any) -> Any:
        _call_safely(before, args)
        result = original(*args, **kwargs)
        _call_safely(after, args)
        return result

    setattr(module, name, noting)
    if original in os.supports_fd:
        os.supports_fd.add(noting)


def _call_safely(function: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    try:
        if function is not None:
            function(*args)
    except Exception:
        # Unusual arguments are the business of the original function.
        return


def _text(value: Any) -> str:
    """Return a path or an argument as text that can be written as UTF-8."""
    return os.fsdecode(value).encode("utf-8", "backslashreplace").decode()


def _variables(environment: Mapping[Any, Any] | Sequence[bytes]) -> dict[str, str]:
    if isinstance(environment, Mapping):
        return {_text(name): _text(value) for name, value in environment.items()}
    pairs = (_text(entry).partition("=") for entry in environment)
    return {name: value for name, _, value in pairs}


def _python_command(path: str, arguments: list[str]) -> list[str] | None:
    """Return the command with which Python starts; None if the program is not Python."""
    if path == sys.executable or _is_python(path):
        return [path, *arguments[1:]]
    with open(path, "rb") as file:
        first = file.readline(256)
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        del words[0]
    return [*words, path, *arguments[1:]] if words and _is_python(words[0]) else None


def _is_python(path: str) -> bool:
    return _PYTHON.fullmatch(os.path.basename(path)) is not None


def _ignores_environment(command: list[str]) -> bool:
    """Return whether Python is started with -I, -S or -E."""
    arguments = iter(command[1:])
    for argument in arguments:
        if not argument.startswith("-") or argument in ("-", "--"):
            return False
        if argument == "--check-hash-based-pycs":
            next(arguments, None)
        if argument.startswith("--"):
            continue
        for place, letter in enumerate(argument[1:], start=2):
            if letter in "ISE":
                return True
            if letter in _LAST:
                return False
            if letter in _WITH_VALUE:
                if place == len(argument):
                    next(arguments, None)
                break
    return False


def _is_started_by_inductor() -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        if _INDUCTOR in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
