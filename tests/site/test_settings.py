"""`site.toml` and the options that take precedence."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.errors import FullgraphError
from fullgraph.site.settings import make_plan

GOOD = """
title = "Our breaks"
address = "https://example.org/breaks"
repository = "https://github.com/owner/name"
branch = "trunk"
info = "more/info"
release = "2.13"
reports = "sweep"
"""


def test_settings_are_read_and_options_win(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(GOOD)
    plan = make_plan()
    assert plan.settings.title == "Our breaks"
    assert plan.settings.address == "https://example.org/breaks/"
    assert plan.settings.repository == "owner/name"
    assert (plan.settings.branch, plan.settings.info_path) == ("trunk", "more/info")
    assert (plan.release, plan.info, plan.reports) == ("2.13", Path("more/info"), Path("sweep"))
    (tmp_path / "elsewhere").mkdir()
    other = make_plan(info="elsewhere", release="2.15", reports="x.json")
    assert (other.release, other.info, other.reports) == (
        "2.15",
        Path("elsewhere"),
        Path("x.json"),
    )
    assert other.settings == plan.settings


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "my.toml").write_text('info = "notes"\nreports = "sweep"\n')
    plan = make_plan(settings="there/my.toml")
    assert (plan.info, plan.reports) == (Path("there/notes"), Path("there/sweep"))


def test_a_source_is_relative_to_the_file_as_well(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for release, meant in (("own.json", "there/own.json"), ("2.13", "2.13"), ("latest", "latest")):
        (tmp_path / "there" / "own.json").touch()
        (tmp_path / "there" / "my.toml").write_text(f'release = "{release}"\n')
        assert make_plan(settings="there/my.toml").release == meant


def test_information_that_was_named_must_be_there(tmp_path: Path) -> None:
    assert make_plan().info_folder() is None
    (tmp_path / "site.toml").write_text('info = "notes"\n')
    with pytest.raises(FullgraphError, match=r"no folder notes, which site\.toml names"):
        make_plan().info_folder()
    (tmp_path / "notes").mkdir()
    assert make_plan().info_folder() == Path("notes")


def test_without_a_file_there_are_defaults() -> None:
    plan = make_plan()
    assert (plan.settings.repository, plan.release, plan.info) == ("", None, Path("info"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('titel = "x"', "there is no setting 'titel'"),
        ('seen = "x"', "the setting seen was renamed; use reports"),
        ("title = 3", "title must be a string"),
        ("title = ", "cannot be read"),
        ('address = "example.org"', "address must be like"),
        ('address = "https://example.org/a b?c"', "address must be like"),
        ('repository = "name"', "repository must be OWNER/NAME"),
        ('info = "../elsewhere"', "info must be a folder next to"),
        ('branch = ""', "must not be empty"),
        ("\xff", "cannot be read"),
    ],
)
def test_an_error_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "site.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(FullgraphError, match=words) as caught:
        make_plan()
    assert "\n" not in str(caught.value)
    assert "site.toml" in str(caught.value)
