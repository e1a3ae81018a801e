"""What code of a change can do in its process: nothing that stays, and take nothing."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fullgraph.fix.confinement import Confinement, missing
from fullgraph.fix.confinement.environment import without_keys
from fullgraph.fix.confinement.readable import readable
from fullgraph.fix.trials.confined_run import ConfinedError, ConfinedRun, descendants

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"this system lacks {missing()}")

_KEY = "sk-verysecretverysecret"
_TEMPORARY = Path(tempfile.gettempdir()) / "fullgraph-test-of-confinement"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A project with a file of keys, and a home folder."""
    root = tmp_path_factory.mktemp("places")
    project, home = root / "project", root / "home"
    (project / "package").mkdir(parents=True)
    home.mkdir()
    (project / "train.py").write_text("1\n")
    (project / "package" / "part.py").write_text("2\n")
    (project / ".env").write_text(f"OPENAI_API_KEY={_KEY}\n")
    (home / ".netrc").write_text(_KEY)
    return {"project": project, "home": home}


def _confinement(places: dict[str, Path], **limits: Any) -> Confinement:
    found = readable([str(places["project"])])
    return Confinement(found.reads, found.lists, **{"cpu_seconds": 10, "seconds": 30.0, **limits})


def _tried(action: Callable[[], object]) -> str:
    """Return what came of an action: its error, or its result."""
    try:
        return f"done: {action()!r}"
    except BaseException as error:
        return type(error).__name__


@pytest.fixture(scope="module")
def tried(places: dict[str, Path]) -> dict[str, str]:
    """What came of each attack; all of them are tried in one confined process."""
    project, home, parent = places["project"], places["home"], os.getpid()
    libc = ctypes.CDLL(None)
    with open(project / "log.txt", "w") as log:
        attacks: dict[str, Callable[[], object]] = {
            "read the project": (project / "package" / "part.py").read_text,
            "list the project": lambda: sorted(os.listdir(project)),
            "read keys of the project": (project / ".env").read_text,
            "read the home folder": (home / ".netrc").read_text,
            "list the home folder": lambda: os.listdir(home),
            "write the home folder": lambda: (home / "evil").write_text("x"),
            "write the project": lambda: (project / "train.py").write_text("x"),
            "empty a file": lambda: os.truncate(project / "train.py", 0),
            "remove a file": (project / "train.py").unlink,
            "move a file": lambda: os.rename(project / "train.py", project / "moved.py"),
            "make a link": lambda: os.symlink(home, project / "link"),
            "write a temporary file": lambda: _TEMPORARY.write_text("x"),
            "write memory of others": lambda: os.open(f"/proc/{parent}/mem", os.O_RDWR),
            "read the environment of a parent": Path(f"/proc/{parent}/environ").read_bytes,
            "read the command of a parent": Path(f"/proc/{parent}/cmdline").read_bytes,
            "connect": lambda: socket.create_connection(("127.0.0.1", 9)),
            "make a socket": lambda: socket.socket(socket.AF_UNIX),
            "fork": os.fork,
            "start a program": lambda: subprocess.run(["true"], check=False),
            "become another program": lambda: os.execv(sys.executable, [sys.executable]),
            "leave the group": os.setsid,
            "kill a parent": lambda: os.kill(parent, 0),
            "trace a parent": lambda: libc.ptrace(16, parent, 0, 0) or "traced",
            "lift a limit": _lift_limit,
        }

        def work(scratch: Path) -> None:
            # What was open for writing leads nowhere now.
            os.write(log.fileno(), b"evil")
            os.chmod(project / "train.py", 0o777)
            os.utime(project / "train.py", (0, 0))
            results = {name: _tried(attack) for name, attack in attacks.items()}
            (scratch / "results.json").write_text(json.dumps(results))

        with ConfinedRun(_confinement(places)) as run:
            run.finish(work)
            found: dict[str, str] = json.loads(run.read("results.json"))
    assert not (project / "log.txt").read_text()
    return found


def _lift_limit() -> str:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "lifted"


def test_the_project_can_be_read(tried: dict[str, str]) -> None:
    assert tried["read the project"] == "done: '2\\n'"
    assert "'.env'" in tried["list the project"]


def test_nothing_else_can_be_read_written_reached_or_started(tried: dict[str, str]) -> None:
    allowed = {"read the project", "list the project"}
    done = {name for name, what in tried.items() if what.startswith("done")}
    # An error of libc is a result.
    done = {name for name in done if tried[name] != "done: -1"}
    assert done == allowed
    assert _KEY not in json.dumps(tried)


def test_nothing_outside_of_the_scratch_folder_has_changed(
    tried: dict[str, str], places: dict[str, Path]
) -> None:
    assert tried
    project = places["project"]
    assert (project / "train.py").read_text() == "1\n"
    assert (project / "train.py").stat().st_mode & 0o777 != 0o777
    assert (project / "train.py").stat().st_mtime > 1
    assert sorted(os.listdir(places["home"])) == [".netrc"]
    assert not (project / "link").is_symlink()
    assert not _TEMPORARY.exists()


def _loop(_: Path) -> None:
    while True:
        pass


def _leave(_: Path) -> None:
    os._exit(0)


def _fill_memory(_: Path) -> None:
    bytearray(4 << 30)


def _link(scratch: Path) -> None:
    (scratch / "result").symlink_to("/etc/passwd")


def _pipe(scratch: Path) -> None:
    os.mkfifo(scratch / "result")


def _fork_some(scratch: Path) -> None:
    made = 0
    for _ in range(20):
        with suppress(OSError):
            if os.fork() == 0:
                signal.pause()
            made += 1
    (scratch / "made").write_text(str(made))


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        (_loop, "uses more than 1 s of CPU time"),
        (_leave, "ends its process"),
        (_fill_memory, "MemoryError"),
        (_link, "leaves no result"),
        (_pipe, "leaves something else than a result"),
    ],
)
def test_what_does_not_finish_is_an_error(
    attack: Callable[[Path], None], why: str, places: dict[str, Path]
) -> None:
    limits = _confinement(places, cpu_seconds=1, megabytes=512)

    def finish(run: ConfinedRun) -> bytes:
        run.finish(attack)
        return run.read("result")

    with ConfinedRun(limits) as run, pytest.raises(ConfinedError, match=why):
        finish(run)


def test_a_confinement_with_processes_limits_how_many(places: dict[str, Path]) -> None:
    limits = _confinement(places, processes=True, most_processes=6)
    with ConfinedRun(limits) as run:
        run.finish(_fork_some)
        assert 0 < int(run.read("made")) < 10
    assert not list(descendants(os.getpid()))


def test_a_key_is_no_variable_of_the_program() -> None:
    variables = {
        "PATH": "/bin",
        "PWD": "/here",
        "LANG": "C",
        "OMP_NUM_THREADS": "1",
        "MY_MODE": "fast",
        "OPENAI_API_KEY": "x",
        "HF_TOKEN": "x",
        "DB_PASSWORD": "x",
        "SSH_AUTH_SOCK": "/run/agent",
        "CONFIG": f"key={_KEY}",
        "DATABASE_URL": "postgres://me:word@host/db",
    }
    kept = {"PATH", "PWD", "LANG", "OMP_NUM_THREADS", "MY_MODE"}
    assert set(without_keys(variables)) == kept


def test_a_home_folder_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(tmp_path) not in readable([str(tmp_path)]).reads
