"""The manual has a chapter per command, and shows what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from fullgraph.guide.manual import (
    Chapter,
    all_chapters,
    outputs_of,
    read_chapter,
    runs_a_program,
    stale_commands,
    stored_output,
    with_outputs,
)
from fullgraph.site.documents import all_documents, linked

ROOT = Path(__file__).parents[2]
COMMANDS = {
    file.stem
    for file in (ROOT / "src/fullgraph/commands").glob("*.py")
    if not file.stem.startswith("_")
}
WRITTEN_WITH = "2.13"
# Code in Markdown: a block, or between backticks.
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
# Words after the name that are not commands: a part of one for the completion of a shell, and
# words of reports.
EXPLAINED = {"re", "compile", "counts", "in"}
NAMED = re.compile(r"(?:^|[`$\s])fullgraph +([a-z]+)\b", re.MULTILINE)


def test_every_command_has_a_chapter() -> None:
    assert {chapter.command for chapter in all_chapters() if chapter.command} == COMMANDS
    assert [chapter.number for chapter in all_chapters()] == list(range(1, len(all_chapters()) + 1))


@pytest.mark.parametrize("chapter", all_chapters(), ids=lambda each: each.id)
def test_a_chapter_shows_the_help_of_its_command(chapter: Chapter) -> None:
    commands = [part.text.strip() for part in chapter.parts if part.kind == "command"]
    assert f"fullgraph {chapter.command} --help".replace("  ", " ") in commands
    kinds = [part.kind for part in chapter.parts]
    for index, kind in enumerate(kinds):
        assert kind != "command" or kinds[index + 1] == "output"


def test_no_page_names_a_command_that_does_not_exist() -> None:
    texts = {document.name: document.text for document in all_documents()}
    texts["README"] = (ROOT / "README.md").read_text()
    texts |= {
        chapter.id: "".join(f"`{part.text}`" for part in chapter.parts if part.kind == "command")
        for chapter in all_chapters()
    }
    for name, text in texts.items():
        code = "\n".join(CODE.findall(text))
        # The lines of a report start with the name, too: "fullgraph  4 root causes".
        unknown = {each for each in NAMED.findall(code) if each not in COMMANDS}
        assert unknown <= EXPLAINED, (name, unknown)


@pytest.mark.skipif(
    not torch.__version__.startswith(WRITTEN_WITH), reason="other releases print other lines"
)
def test_commands_that_do_not_start_torch_print_what_is_shown() -> None:
    """`python -m tools.refresh_manual --check` runs all of them."""
    for chapter in all_chapters():
        if any(p.kind == "command" and not runs_a_program(p) for p in chapter.parts):
            assert stale_commands(chapter, outputs_of(chapter, quick=True)) == []


def test_words_of_torch_paths_and_times_are_not_stored(tmp_path: Path) -> None:
    text = (
        "W1118 15:39:28.972000 6378 torch/x.py:1] a warning\n"
        f"    {tmp_path}/model.py:6  yours\n"
        "    why    Detected something\n           that goes on\n    fix    Our advice\n"
        "why       Words of torch\n          and more\n\n"
        "          1. Ours\n          2. torch: a hint\n             goes on\n"
        "speed: cannot be told: 0.93 to 2.53\n  times as fast\n"
        "1.4x faster, 3.2 s\n"
    )
    assert stored_output(text, tmp_path) == (
        "    model.py:6  yours\n    why    …\n    fix    Our advice\nwhy       …\n\n"
        "          1. Ours\n          2. torch: …\nspeed: …\n…x faster, … s"
    )


def test_outputs_are_written_below_their_commands(tmp_path: Path) -> None:
    file = tmp_path / "01-x.md"
    file.write_text(
        '+++\ntitle = "X"\n+++\nText.\n\n```command\nfullgraph --help\n```\n\n'
        "```output\nold\n```\n\nMore.\n\n```command varies\nfullgraph guards x.py\n```\n"
    )
    text = with_outputs(file.read_text(), ["new", "first\n1.2"])
    assert text.count("```output") == 2
    assert "old" not in text
    file.write_text(text)
    chapter = read_chapter(file)
    assert stale_commands(chapter, ["new", "first\n3.4"]) == []
    assert stale_commands(chapter, ["newer", "other"]) == [
        "fullgraph --help", "fullgraph guards x.py",
    ]  # fmt: skip
    assert stale_commands(chapter, [None, None]) == []
    assert with_outputs(text, [None, None]) == text


def test_documents_have_no_comments_outside_of_code() -> None:
    texts = {document.name: document.text for document in all_documents()}
    assert "<!-- ADDITIONAL INFORMATION END -->" in texts["site"]
    code = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    assert [name for name, text in texts.items() if "<!--" in code.sub("", text)] == []


def test_each_document_says_in_a_sentence_what_it_is() -> None:
    for document in all_documents():
        assert len(document.summary) < 200, document.name
        assert not document.summary.startswith(("`python -m", "`make bench")), document.name


def test_links_of_documents_lead_somewhere() -> None:
    text = "[a](fix.md#x) [b](../README.md) [c](https://x.org) [d](other.md)"
    known = frozenset({"fix"})
    assert linked(text, known, "o/r", "main") == (
        "[a](fix.html#x) [b](https://github.com/o/r/blob/main/README.md) [c](https://x.org) "
        "[d](https://github.com/o/r/blob/main/docs/other.md)"
    )
    assert linked(text, known, "", "main") == "[a](fix.html#x) b [c](https://x.org) d"
