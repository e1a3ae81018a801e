"""Contributed files are checked strictly, and none publishes a file of the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullgraph.site.contributed_files import MOST_BYTES
from fullgraph.site.importing import import_folder
from fullgraph.site.info import read_info
from fullgraph.site.info_check import check_info
from fullgraph.site.markers import END, START
from fullgraph.site.settings import SettingsError, make_plan
from tests.site.sitekit import SiteCli, rebuild

KNOWN = ["GB0124", "GB0125", "GB0126"]


def block(text: str) -> str:
    return f"{START}\n{text}\n{END}\n"


@pytest.fixture
def info(tmp_path: Path) -> Path:
    folder = tmp_path / "info"
    folder.mkdir()
    return folder


def only_problem(info: Path) -> str:
    (problem,) = check_info(info, KNOWN).problems
    return problem


# Files that a site must not read


def test_a_symbolic_link_is_not_followed(info: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(block("the password"))
    (info / "gb0124.md").symlink_to(secret)
    added = read_info(info, KNOWN)
    assert added.infos["GB0124"].html == ""
    assert "gb0124.md (it is a symbolic link" in added.problems[0]
    assert "symbolic link" in only_problem(info)


def test_a_folder_that_is_a_symbolic_link_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "info").symlink_to(elsewhere)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="info is a symbolic link"):
        make_plan()
    # The person who runs the command may name any folder.
    assert make_plan(info="info").info_folder() == Path("info")


def test_a_pipe_does_not_stop_a_build(info: Path) -> None:
    os.mkfifo(info / "gb0124.md")
    assert only_problem(info) == "gb0124.md (it is not a file)"


def test_an_import_does_not_follow_symbolic_links_either(tmp_path: Path) -> None:
    source = tmp_path / "gb"
    source.mkdir()
    (tmp_path / "secret").write_text(block("the password"))
    (source / "gb0124.md").symlink_to(tmp_path / "secret")
    result = import_folder(tmp_path, tmp_path / "info")
    assert "gb0124.md (it is a symbolic link" in result.lines()[1]
    assert not (tmp_path / "info").exists()


# Information of any size and nesting

DEEP = {
    "quotes": "> " * 5000 + "the end",
    "lists": "\n".join(f"{'  ' * depth}- item" for depth in range(200)) + " the end",
    "emphasis": "**" * 2000 + "the end" + "**" * 2000,
    "images": "![" * 500 + "the end" + "](x)" * 500,
    "brackets": "[" * 5000 + "the end",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_no_nesting_loses_text_or_fails(info: Path, text: str) -> None:
    (info / "gb0124.md").write_text(block(text))
    shown = read_info(info, KNOWN).infos["GB0124"]
    assert "the end" in shown.html
    assert shown.html.count("<strong>") + shown.html.count("<ul>") < 100


def test_text_nested_too_deeply_is_named(info: Path) -> None:
    (info / "gb0124.md").write_text(block(DEEP["quotes"]))
    assert "nested more than 20 levels deep, so it is shown as plain text" in only_problem(info)


def test_megabytes_are_refused(info: Path) -> None:
    (info / "gb0124.md").write_text(block("word " * 500_000))
    assert f"at most {MOST_BYTES:,} are allowed; shorten it" in only_problem(info)
    assert read_info(info, KNOWN).infos["GB0124"].html == ""


# What a pull request is told

WRONG = {
    f"Hello.\n{block('text')}": "it has text before the start marker, which is not shown",
    f"{block('text')}bye": "it has text after the end marker, which is not shown",
    block(""): "it has no text between the markers",
    block("[x](javascript:alert(1))"): "the link javascript:alert(1) is not shown",
    block("[x](//example.org/y)"): "the link //example.org/y is not shown",
    block("[x](gb9999.md)"): "the link gb9999.md leads to a break that no release has",
    block("[x](other.md)"): "the link other.md leads nowhere",
    block("[x](../guide/nope.html)"): "the link ../guide/nope.html leads nowhere",
    block("[x](https:///y)"): "names no host",
    f"{START}\ntext\n": "its end marker is missing",
}


@pytest.mark.parametrize("text", WRONG, ids=WRONG.values())
def test_a_file_with_a_mistake_is_named(info: Path, text: str) -> None:
    (info / "gb0124.md").write_text(text)
    assert only_problem(info).startswith("gb0124.md (")
    assert WRONG[text] in only_problem(info)


def test_correct_files_have_no_problem(info: Path) -> None:
    links = "[a](gb0125.md) [b](https://pytorch.org/x#y) [c](mailto:a@b.org)"
    pages = "[d](../guide/guards.html) [e](../fixes/branch_to_where.html)"
    (info / "gb0124.md").write_text(f"\ufeff{block(f'{links} {pages}')}\n\n")
    (info / "README.md").write_text("What this folder is.")
    (info / "gb9999.md").write_text(block("an id that no release has"))
    found = check_info(info, KNOWN)
    assert found.problems == ()
    assert found.notes[0].startswith("gb9999.md is about a break that no known release has")


def test_other_entries_of_the_folder_are_named(info: Path) -> None:
    (info / "notes.txt").write_text("x")
    (info / "more").mkdir()
    (info / "gb12.md").write_text(block("x"))
    assert sorted(line.split(" (")[0] for line in check_info(info, KNOWN).problems) == [
        "gb12.md", "more", "notes.txt",
    ]  # fmt: skip


def test_the_command_checks_a_folder_without_a_site(info: Path, site_cli: SiteCli) -> None:
    (info / "gb0124.md").write_text(block("text"))
    fine = site_cli("check", "--info", "info")
    assert (fine.returncode, fine.stdout) == (0, "1 file, no problems\n")
    (info / "gb0124.md").write_text("text")
    wrong = site_cli("check", "--info", "info")
    assert (wrong.returncode, wrong.stdout) == (1, "gb0124.md (it has no markers)\n")


# Ids that no release has


def test_a_page_of_an_unknown_id_is_imported_with_its_text_and_has_a_page(
    built: Path, tmp_path: Path
) -> None:
    source = tmp_path / "docs" / "gb"
    source.mkdir(parents=True)
    (source / "gb9999.md").write_text(
        "---\nlayout: default\n---\n# GB9999\n\n## Graph-Break Type\n*A caption*\n\n"
        f"Strange things\n\n## Additional Information\n\n{START}\n\n{END}\n\n[Back](y)\n"
    )
    result = import_folder(tmp_path, tmp_path / "info", KNOWN)
    assert result.unknown == ["gb9999.md"]
    text = (tmp_path / "info" / "gb9999.md").read_text()
    assert text == f"{START}\n## Graph-Break Type\nStrange things\n{END}\n"

    assert "gb/gb9999.html" in rebuild(built, info=str(tmp_path / "info")).written
    page = (built / "gb" / "gb9999.html").read_text()
    assert "GB9999 is not in any known release" in page
    assert "Strange things" in page
    assert 'href="gb/gb9999.html"' in (built / "dashboard.html").read_text()
