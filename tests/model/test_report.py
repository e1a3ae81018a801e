"""Report files: those of older formats are read; damage and other files get one clear line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import fullgraph
from fullgraph.errors import ReportError
from fullgraph.model.report import REPORT_FORMAT, is_report, load_report
from fullgraph.render import render
from tests.conftest import Cli

# As fullgraph wrote it when the report format was 1.
SITE: dict[str, Any] = {
    "key": "Some type @ /home/m.py:7:5",
    "id": "GB0025",
    "type": "Some type",
    "category": "asked-for",
    "owner": "yours",
    "file": "/home/m.py",
    "line": 7,
    "column": 5,
    "function": "f",
    "occurrences": 2,
    "resumed": 1,
    "cut": 0,
    "skipped": 1,
    "raised": 0,
    "frames": ["f"],
    "explanation": "effects",
    "hints": [],
    "context": "",
    "via": None,
    "cascade_of": None,
    "because": "",
    "excerpt": [[7, "    graph_break()"]],
    "end_line": None,
    "end_column": 18,
    "stack": [{"file": "/home/m.py", "line": 7, "function": "f", "column": 5}],
}
CASCADE = {
    "id": "GB7000",
    "type": "graph break in loop",
    "category": "not-entered",
    "file": "/home/m.py",
    "line": 7,
    "column": 5,
    "function": "f",
    "occurrences": 1,
    "because": "Dynamo met it while it handled the break above",
}
FORMAT_1: dict[str, Any] = {
    "format": 1,
    "summary": {
        "causes": 1,
        "sites": 1,
        "occurrences": 2,
        "eager_frames": 1,
        "compiles": 1,
        "recompiles": 0,
        "graphs": 1,
        "ops": 3,
        "compile_seconds": 0.5,
    },
    "environment": {
        "fullgraph": "0.1.0",
        "torch": "2.13.0",
        "python": "3.11.7",
        "platform": "Linux",
        "command": ["python", "m.py"],
        "directory": "/home",
        "processes": 1,
        "killed": 0,
        "settings": {"recompile_limit": 8},
    },
    "causes": [
        {
            **SITE,
            "rank": 1,
            "cascades": [CASCADE],
            "eager_frames": ["f"],
            "asked_for": True,
            "advice": "Remove it.",
        }
    ],
    "sites": [{**SITE, "category": "effects"}],
    "eager_frames": [
        {
            "function": "f",
            "qualified": "f",
            "file": "/home/m.py",
            "line": 5,
            "resumed_at": None,
            "owner": "yours",
            "occurrences": 1,
            "site": SITE["key"],
            "reason": "",
        }
    ],
    "recompiles": [],
    "graphs": [],
    "disagreements": [],
    "errors": [],
    "problems": [],
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(FORMAT_1))
    return path


def test_a_report_of_format_1_is_read_with_the_names_of_today(old: Path) -> None:
    report = fullgraph.load_report(old)
    assert report.format == REPORT_FORMAT
    assert report.summary.skipped_frames == 1
    assert report.skipped_frames[0].function == "f"
    (cause,) = report.causes
    assert (cause.skipped_frames, cause.user_requested) == (("f",), True)
    assert (cause.category, cause.cascades[0].category) == ("user-requested", "untraced-calls")
    assert report.sites[0].category == "side-effects"
    # Only categories are renamed, not text that has the same words.
    assert cause.explanation == "effects"


def test_refused_compiles_of_an_older_report_count_apart(tmp_path: Path) -> None:
    fields = ("compile", "function", "qualified", "file", "owner")
    recompile = {**dict.fromkeys(fields, "x"), "line": 1, "failures": [], "limit_value": 8}
    recompiles = [{**recompile, "limit": None}, {**recompile, "limit": "recompile_limit"}]
    summary = {**FORMAT_1["summary"], "recompiles": 2}
    path = tmp_path / "old.json"
    path.write_text(json.dumps({**FORMAT_1, "summary": summary, "recompiles": recompiles}))
    report = load_report(path)
    assert (report.summary.recompiles, report.summary.refused) == (1, 1)


def test_what_is_written_is_read_back(old: Path, tmp_path: Path) -> None:
    report = load_report(old)
    (tmp_path / "new.json").write_text(render("report", report, "json"))
    assert load_report(tmp_path / "new.json") == report


def test_the_command_shows_a_report_file(cli: Cli, old: Path) -> None:
    result = cli("report", str(old))
    assert result.returncode == 0, result.stderr
    assert "1 root cause, 1 break site, 1 skipped frame" in result.stdout
    assert "m.py:7" in result.stdout
    again = cli("report", "--format", "json", str(old))
    assert json.loads(again.stdout)["format"] == REPORT_FORMAT


def test_a_report_is_not_merged_with_others(cli: Cli, old: Path) -> None:
    result = cli("report", str(old), str(old))
    assert result.returncode == 2
    assert re.fullmatch(r"fullgraph: \S+ is a report, which cannot be merged; .*\n", result.stderr)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (json.dumps({**FORMAT_1, "format": 99}), "reads up to 2; upgrade with pip install -U"),
        (json.dumps({**FORMAT_1, "format": "x"}), "no valid report format"),
        (json.dumps({**FORMAT_1, "summary": {}}), "is damaged .*write the report again"),
        (json.dumps(FORMAT_1)[:-30], "is not a fullgraph report"),
        ('{"event":"header","format":1,"fullgraph":"1"}\n', "is not a fullgraph report"),
        ("[]", "is not a fullgraph report"),
        ("", "is not a fullgraph report"),
        ("\xff", "is not a fullgraph report"),
    ],
)
def test_any_other_file_gets_one_line(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ReportError, match=complaint) as caught:
        load_report(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="No such file"):
        load_report(tmp_path / "absent.json")
    assert not is_report(tmp_path / "absent.json")
