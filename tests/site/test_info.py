"""Additional information survives updates, and damaged files are reported."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.site.importing import import_folder
from fullgraph.site.info import edit_link, read_info, section_of
from fullgraph.site.markers import END, START, find_section
from fullgraph.site.model import Info, Settings

SHORT_START = "<!-- ADDITIONAL INFORMATION START -->"
WORDS = st.text(st.characters(exclude_characters="`~<>\t", codec="utf-8"), max_size=60)
LINES = st.lists(WORDS.filter(lambda text: not text.startswith("    ")), max_size=6)
NEWLINES = st.sampled_from(["\n", "\r\n"])


@given(before=LINES, body=LINES, after=LINES, newline=NEWLINES, long=st.booleans())
def test_what_lies_between_the_markers_is_found_byte_for_byte(
    before: list[str], body: list[str], after: list[str], newline: str, long: bool
) -> None:
    inside = newline + newline.join(body) + newline
    start = START if long else SHORT_START
    text = newline.join(before) + newline + start + inside + END + newline + newline.join(after)
    section = section_of(text.encode())
    assert section.text == inside
    assert section.problem == ""
    assert section.whole == start + inside + END
    assert section.whole.encode() in text.encode()


@given(st.lists(st.sampled_from(["text", START, END, SHORT_START, "```", "~~~~", "    x"])))
def test_any_mixture_of_markers_is_either_right_or_named(lines: list[str]) -> None:
    section = find_section("\n".join(lines))
    if not section.problem:
        assert sum("START" in line for line in lines) == 1
        assert lines.count(END) == 1
    assert not section.problem or not section.whole


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(data: bytes) -> None:
    section = section_of(data)
    assert section.problem or START[:20] in data.decode()


BLOCK = f"{START}\ninside\n{END}"
DAMAGED = {
    f"before\n{START}\ninside\n": "its end marker is missing",
    f"inside\n{END}\nafter": "its start marker is missing",
    "inside": "it has no markers",
    f"{END}\ninside\n{START}": "its end marker comes before its start marker",
    f"{START}\n{START}\ninside\n{END}\n": "it has 2 start markers",
    f"{START}\ninside\n{END}\n{END}\n": "it has 2 end markers",
    f"{START}\n{START}\ninside\n{END}\n{END}\n": "its markers are nested",
    f"{BLOCK}\n{BLOCK}": "it has 2 start and end markers",
    f"```\n{BLOCK}\n```\n": "a marker is in a code block",
    f"{START}\ninside\n```python\nx = 1\n{END}\n": "a marker is in a code block",
    f"{START}\ninside\n    {END}\n": "a marker is in a code block",
}


@pytest.mark.parametrize("text", DAMAGED, ids=DAMAGED.values())
def test_damaged_markers_are_named_and_what_can_be_shown_is_shown(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "gb0124.md"
    file.write_text(text)
    added = read_info(tmp_path, ["GB0124"])
    assert added.problems == (f"gb0124.md ({DAMAGED[text]})",)
    shown = added.infos["GB0124"].html
    assert "inside" in shown
    assert "ADDITIONAL INFORMATION" not in shown
    assert "before" not in shown
    assert "after" not in shown
    assert file.read_text() == text


def test_a_damaged_file_of_the_original_site_does_not_show_its_frame(tmp_path: Path) -> None:
    (tmp_path / "gb0001.md").write_text(
        f"# GB0001\n\n## Additional Information\n\nmine\n{END}\n\n[Back](y)"
    )
    (tmp_path / "gb0002.md").write_text(
        f"# GB0002\n{START}\nmine\n\n[Click here to add Additional Info](x)\n\n[Back](y)"
    )
    infos = read_info(tmp_path, ["GB0001", "GB0002"]).infos
    assert [info.html for info in infos.values()] == ["<p>mine</p>\n"] * 2


def test_other_encodings_are_named(tmp_path: Path) -> None:
    block = f"{START}\ncafé\n{END}\n"
    (tmp_path / "gb0001.md").write_bytes(block.encode("latin-1"))
    (tmp_path / "gb0002.md").write_bytes(block.encode("utf-16"))
    (tmp_path / "gb0003.md").write_bytes(block.encode("utf-8-sig"))
    (tmp_path / "gb0004.md").mkdir()
    added = read_info(tmp_path, [f"GB000{n}" for n in range(5)])
    assert [line.split(" (")[0] for line in added.problems] == [
        "gb0001.md",
        "gb0002.md",
        "gb0004.md",
    ]
    assert "it is not UTF-8: byte 83 is 0xe9" in added.problems[0]
    assert added.infos["GB0001"].html == "<p>caf�</p>\n"
    assert added.infos["GB0002"].html == ""
    assert added.infos["GB0003"].html == "<p>café</p>\n"


def test_ids_that_nobody_knows_and_names_that_are_wrong_are_told(tmp_path: Path) -> None:
    for name in ("gb0124.md", "GB0124.md", "gb9999.md", "gb12.md", "README.md"):
        (tmp_path / name).write_text(BLOCK)
    added = read_info(tmp_path, ["GB0124"])
    assert list(added.infos) == ["GB0124"]
    assert [info.file for info in added.orphans] == ["gb9999.md"]
    assert added.problems == (
        "gb12.md (it is not named like gb0124.md)",
        "gb0124.md (GB0124.md is about the same break)",
    )


def test_an_empty_section_is_neither_information_nor_a_problem(tmp_path: Path) -> None:
    (tmp_path / "gb0124.md").write_text(f"{START}\n\n{END}\n")
    added = read_info(tmp_path, ["GB0124"])
    assert (added.infos["GB0124"].html, added.problems) == ("", ())


def test_improve_this_page_edits_a_file_or_starts_one_with_the_markers() -> None:
    settings = Settings(repository="a/b", branch="my branch", info_path="more/info")
    info = Info("gb0124.md", "", "", "")
    assert edit_link("GB0124", settings, info) == (
        "https://github.com/a/b/edit/my%20branch/more/info/gb0124.md"
    )
    new = urlsplit(edit_link("GB0124", settings, None))
    assert new.path == "/a/b/new/my%20branch/more/info"
    query = parse_qs(new.query)
    assert query["filename"] == ["gb0124.md"]
    assert find_section(query["value"][0]).problem == ""
    assert edit_link("GB0124", Settings(), info) == ""


# Importing


def page_of_the_original(body: str, newline: str = "\n") -> bytes:
    text = f"# [GB](x)\n\n## Additional Information\n\n{START}{body}{END}\n\n\n[Back](y)\n"
    return text.replace("\n", newline).encode()


def test_import_takes_the_information_and_nothing_around_it(tmp_path: Path) -> None:
    source = tmp_path / "original" / "docs" / "gb"
    source.mkdir(parents=True)
    (source / "gb0001.md").write_bytes(page_of_the_original("\nI helped.  \n\n"))
    (source / "gb0002.md").write_bytes(page_of_the_original("\nWindows.\n", "\r\n"))
    (source / "gb0003.md").write_bytes(page_of_the_original("\n\n"))
    damaged = b"# page\n" + START.encode() + b"\nno end \xff"
    (source / "gb0004.md").write_bytes(damaged)
    (source / "gb0005.md").write_bytes(page_of_the_original("\ntheirs\n"))
    target = tmp_path / "info"
    target.mkdir()
    (target / "gb0005.md").write_text("ours")

    result = import_folder(tmp_path / "original", target)

    assert (result.copied, result.empty) == (["gb0001.md", "gb0002.md"], ["gb0003.md"])
    assert result.kept == ["gb0005.md"]
    assert [line.split()[0] for line in result.damaged] == ["gb0004.md"]
    assert (target / "gb0001.md").read_bytes() == f"{START}\nI helped.  \n\n{END}\n".encode()
    assert (target / "gb0002.md").read_bytes() == f"{START}\r\nWindows.\r\n{END}\n".encode()
    assert (target / "gb0004.md").read_bytes() == damaged
    assert (target / "gb0005.md").read_text() == "ours"
    assert not (target / "gb0003.md").exists()

    again = import_folder(source, target)
    assert (again.copied, again.damaged) == ([], [])
    assert again.same == ["gb0001.md", "gb0002.md", "gb0004.md"]
