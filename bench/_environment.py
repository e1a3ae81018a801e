"""A throwaway Python environment with a given torch and other packages."""

from __future__ import annotations

import os
import subprocess
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).parents[1]
_READY = "ready.txt"


class NotInstalledError(Exception):
    """pip could not install the packages; the message is its last line."""


@contextmanager
def environment(torch: str, packages: Sequence[str], kept: Path | None = None) -> Iterator[Path]:
    """Yield the Python of an environment with torch, some packages and this project.

    The environment is removed afterwards, unless it is in the folder `kept`, where the next run
    finds it again.
    """
    if kept is not None:
        yield _created(kept.resolve(), torch, packages)
        return
    with TemporaryDirectory(prefix="fullgraph-bench-") as folder:
        yield _created(Path(folder), torch, packages)


def _created(folder: Path, torch: str, packages: Sequence[str]) -> Path:
    """Return the Python of the environment in a folder, which is created if it is not there."""
    # The name of the folder of executables differs between systems; venv knows it.
    python = Path(venv.EnvBuilder().ensure_directories(folder).env_exe)
    wanted = "\n".join([f"torch=={torch}", *packages])
    ready = folder / _READY
    if ready.exists() and ready.read_text() == wanted:
        return python
    venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    constraint = folder / "constraint.txt"
    constraint.write_text(f"torch=={torch}\n")
    # torch comes first and alone: a library that asks for any torch must not choose the build.
    _install(python, f"torch=={torch}")
    _install(python, "-c", str(constraint), *packages)
    _install(python, "-c", str(constraint), str(PROJECT))
    ready.write_text(wanted)
    return python


def _install(python: Path, *packages: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"]
        raise NotInstalledError(next((x for x in lines if x.startswith("ERROR")), lines[-1]))


def variables(**more: str) -> dict[str, str]:
    """Return the environment variables of a run, in which this project's sources come first."""
    # A kept environment has the project as it was installed; the sources may have changed since.
    path = str(PROJECT / "src")
    return {
        **os.environ,
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        # Compiling torch's headers in advance takes longer than the few kernels of a program.
        "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
        **more,
    }
