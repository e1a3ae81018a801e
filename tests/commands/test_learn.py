"""`fullgraph learn` as a reader meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fullgraph.commands import cli as cli_of_fullgraph
from fullgraph.errors import FullgraphError
from fullgraph.guide.lesson import lesson_named
from tests.conftest import Cli


def test_lessons_are_listed_in_reading_order(cli: Cli) -> None:
    lines = cli("learn").stdout.splitlines()
    assert "lessons about torch.compile" in lines[0]
    listed = json.loads(cli("learn", "--format", "json").stdout)
    assert [each["number"] for each in listed] == list(range(1, len(listed) + 1))
    assert {"id", "title", "minutes", "topics"} <= set(listed[0])


def test_a_lesson_is_shown_with_the_words_of_the_installed_torch(cli: Cli) -> None:
    shown = cli("learn", "graph-breaks").stdout
    assert "graph 2 ┃" in shown
    assert "{{" not in shown
    assert shown.rstrip().endswith("next      fullgraph learn guards")
    assert json.loads(cli("learn", "2", "--format", "json").stdout)["id"] == "graph-breaks"


def test_run_and_quiz_run_the_code() -> None:
    # In this process, where torch is loaded.
    ran = CliRunner().invoke(cli_of_fullgraph, ["learn", "graph-breaks", "--run"])
    assert ran.exit_code == 0, ran.output
    assert "2 graphs" in ran.output
    asked = CliRunner().invoke(cli_of_fullgraph, ["learn", "graph-breaks", "--quiz"], input="7\n")
    assert "It is 1." in asked.output
    assert "0 of 1 right" in asked.output
    silent = CliRunner().invoke(cli_of_fullgraph, ["learn", "graph-breaks", "--quiz"])
    assert isinstance(silent.exception, FullgraphError)
    assert "no answer was given" in str(silent.exception)


@pytest.mark.parametrize(
    ("name", "lesson"),
    [
        ("3", "guards"),
        ("Guards", "guards"),
        ("fullgraph=True", "fullgraph-true"),
        ("error_on_graph_break", "error-on-graph-break"),
        ("cache-size-limit", "recompile-limit"),
    ],
)
def test_a_lesson_is_found_as_people_write_it(name: str, lesson: str) -> None:
    assert lesson_named(name).id == lesson


def test_a_misspelled_lesson_has_a_suggestion() -> None:
    with pytest.raises(FullgraphError, match="did you mean guards"):
        lesson_named("gaurds")


def test_bad_input_is_one_line(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "kept.py"
    kept.write_text("mine\n")
    for arguments in (
        ["learn", "no-such-lesson"],
        ["learn", "--run"],
        ["learn", "guards", "--run", "--quiz"],
        ["learn", "graph-breaks", "--save", str(kept)],
        ["learn", "graph-breaks", "--save", str(tmp_path / "no" / "folder.py")],
    ):
        result = cli(*arguments)
        assert result.returncode == 2
        assert len(result.stderr.strip().splitlines()) == 1
    assert kept.read_text() == "mine\n"


def test_a_saved_program_runs(cli: Cli, tmp_path: Path) -> None:
    assert cli("learn", "graph-breaks", "--save", str(tmp_path / "breaks.py")).returncode == 0
    compile((tmp_path / "breaks.py").read_text(), "breaks.py", "exec")
