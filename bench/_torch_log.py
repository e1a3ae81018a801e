"""The graph breaks in torch's own structured log (`TORCH_TRACE`)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Location = tuple[str, int]
# Without this, breaks that skip a frame are not in the trace.
VARIABLES = {"TORCH_LOGS": "graph_breaks"}

_IN_USER_CODE = re.compile(r"Graph break in user code at (.+):(\d+)$", re.MULTILINE)
_SKIPPED = "Graph break: torch.compile cannot properly resume"
_FRAME = re.compile(r'  File "(.+)", line (\d+), in ')


class LoggedBreak(NamedTuple):
    """A break in the log: the compile in which it happened, and its location."""

    compile: str
    location: Location


def count_breaks(folder: Path) -> Counter[Location]:
    """Return how often a graph break happened at each location.

    If Dynamo fails to handle a break, it starts the compile again and logs the same break again;
    that is one break.
    """
    return Counter(each.location for each in set(_breaks(folder)))


def _breaks(folder: Path) -> Iterator[LoggedBreak]:
    for file in sorted(folder.glob("*.log")):
        for record, payload in _records(file.read_text().splitlines()):
            if record.get("artifact", {}).get("name") == "dynamo_graph_break_reason":
                yield from _parsed(record, payload)


def _records(lines: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each record of the log with its payload, whose lines are indented by a tab."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and lines[end].startswith("\t"):
            end += 1
        payload = "\n".join(line[1:] for line in lines[start + 1 : end])
        yield json.loads(lines[start][lines[start].index("{") :]), payload
        start = end


def _parsed(record: dict[str, Any], payload: str) -> Iterator[LoggedBreak]:
    compile_id = f"{record.get('frame_id')}/{record.get('frame_compile_id')}"
    if found := _IN_USER_CODE.match(payload):
        yield LoggedBreak(compile_id, (found[1], int(found[2])))
    elif payload.startswith(_SKIPPED):
        # The traceback of the user ends where that of Dynamo starts.
        frames = _FRAME.findall(payload.split("Traceback (most recent call last)")[0])
        if frames:
            file, line = frames[-1]
            yield LoggedBreak(compile_id, (file, int(line)))
