"""The events of a program with one of each, and what they are expected to be.

    python -m tests.capture.whole_session

writes `session.json` again, after the capture was changed on purpose; read the diff of git. It has
the ids of graph breaks, and none of torch's texts.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from fullgraph.capture.measures import MEASURE_VARIABLE
from fullgraph.model.session import load_all
from tests.conftest import PROGRAMS
from tests.warm_cli import WarmCli

# Others have other breaks, other guards and other columns.
RELEASE = "2.13.0"
PYTHON = (3, 11)
EXPECTED = Path(__file__).parent / "session.json"
PROGRAM = PROGRAMS / "everything.py"
_TIMES = {"seconds", "cold_seconds"}
# Addresses, the state of torch, which names the number of threads, and a number that counts all
# compiles of the process.
_VARIABLE = re.compile(r"\b\d{6,}\b|0x[0-9a-f]+|(?<=against )\{.*\}|(?<=builtins_dict___)\d+")


def session() -> str:
    """Run the program; return its events as JSON, without what differs from run to run."""
    with tempfile.TemporaryDirectory() as folder:
        cli = WarmCli(Path(folder))
        cli.environment[MEASURE_VARIABLE] = "calls,guards"
        ran = cli("run", "--session", "session", str(PROGRAM))
        assert ran.returncode == 0, ran.stderr
        sessions = load_all((f"{folder}/session",))
    events = [event for each in sessions if each.header.role == "program" for event in each.events]
    shown = [_shown(msgspec.to_builtins(event)) for event in events]
    return json.dumps(shown, indent=1) + "\n"


def _shown(value: Any, key: str = "") -> Any:
    if key in _TIMES:
        return value is not None
    if isinstance(value, dict):
        return _shown_struct(value)
    if key == "restarts" or (key == "error" and " " in str(value)):
        # Torch's texts as well.
        return len(value) if isinstance(value, list) else bool(value)
    if key == "frames":
        # Those before the program run the test.
        ours = [each["file"] == str(PROGRAM) for each in value]
        value = value[ours.index(True) if True in ours else 0 :]
    if key == "excerpt":
        return [f"{number} {text}" for number, text in value]
    if isinstance(value, list | tuple):
        items = [_shown(each) for each in value]
        return sorted(items) if key == "guards" else items
    return _VARIABLE.sub("N", value) if isinstance(value, str) else value


def _shown_struct(value: dict[str, Any]) -> Any:
    if "type" in value and ("id" in value or "explanation" in value):
        # The reason of a break, which is torch's text.
        return [value.get("id"), *sorted(name for name, text in value.items() if text)]
    if {"kind", "place", "seconds"} <= value.keys():
        guard = f"{value['kind']} {value['place']} {value['source']} {value['name']}"
        return _VARIABLE.sub("N", guard)
    found = {name: _shown(each, name) for name, each in value.items()}
    if "event" in found and "reason" in found:
        found["reason"] = bool(found["reason"])
    if "file" in found and "function" in found:
        return _place(found)
    return found


def _place(found: dict[str, Any]) -> str:
    """Return a function or a frame on one line; of torch's and Python's code only its name."""
    is_ours = found["file"] == str(PROGRAM)
    name = Path(found.pop("file")).name
    names = [found.pop("function"), found.pop("qualified", "")]
    if not is_ours:
        return " ".join(["elsewhere", name, *names]).strip()
    return " ".join([name, *names, *(f"{key}={each}" for key, each in found.items())])


def main() -> None:
    """Write the expected events again."""
    EXPECTED.write_text(session(), "utf-8")


if __name__ == "__main__":
    main()
