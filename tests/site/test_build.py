"""Builds write only changes, are reproducible, and report problems."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fullgraph.errors import FullgraphError
from fullgraph.site.markers import END, START
from fullgraph.site.output import MANIFEST
from tests.site.sitekit import Registry, SiteCli, files_in, rebuild


def write_registry(path: Path, registry: Registry) -> str:
    path.write_text(json.dumps(registry))
    return str(path)


def test_the_same_facts_make_the_same_files_wherever_it_runs(
    tmp_path: Path, built: Path, site_cli: SiteCli
) -> None:
    # Built in another process, in another folder, and with another seed and time zone.
    result = site_cli("build", "-o", "other", PYTHONHASHSEED="1", TZ="Asia/Tokyo")
    assert result.returncode == 0, result.stderr
    one, other = files_in(built), files_in(tmp_path / "other")
    assert [name for name in one if one[name] != other.get(name)] == []
    assert set(one) == set(other)
    private = str(tmp_path).encode()
    assert [name for name, content in other.items() if private in content] == []


def test_one_changed_entry_changes_its_page_and_what_lists_it(
    tmp_path: Path, registry: Registry
) -> None:
    folder, file = tmp_path / "site", tmp_path / "registry.json"
    rebuild(folder, release=write_registry(file, registry))
    registry["GB0124"][0]["Hints"].append("Really.")
    result = rebuild(folder, release=write_registry(file, registry))
    assert {"gb/gb0124.html", "api/gb/GB0124.json"} <= set(result.written)
    pages = [name for name in result.written if name.startswith("gb/")]
    assert pages == ["gb/gb0124.html", "gb/gb0124.md"]
    assert b"Really." in (folder / "gb" / "gb0124.html").read_bytes()


def test_new_information_changes_one_page(built: Path, tmp_path: Path) -> None:
    info = tmp_path / "info"
    info.mkdir()
    (info / "gb0124.md").write_text(f"{START}\nTry the **other** way.\n{END}\n")
    result = rebuild(built)
    pages = [name for name in result.written if name.startswith("gb/")]
    assert pages == ["gb/gb0124.html", "gb/gb0124.md"]
    assert b"<strong>other</strong>" in (built / "gb" / "gb0124.html").read_bytes()


def test_information_survives_any_number_of_updates(tmp_path: Path, registry: Registry) -> None:
    info = tmp_path / "info"
    info.mkdir()
    contents = {
        "gb0124.md": f"{START}\r\nWindows\r\n{END}".encode(),
        "gb0125.md": b"\xef\xbb\xbf" + f"{START}\nno newline at the end\n{END}".encode(),
        "gb0126.md": f"{START}\ndamaged".encode(),
        "gb0127.md": b"\xff\xfe not text",
        "gb9999.md": f"{START}\nof a break that is gone\n{END}\n".encode(),
    }
    for name, content in contents.items():
        (info / name).write_bytes(content)
    file = tmp_path / "registry.json"
    for round_ in range(3):
        registry["GB0124"][0]["Explanation"] = f"Round {round_}."
        result = rebuild(tmp_path / "site", release=write_registry(file, registry))
        assert files_in(info) == contents
        assert result.summary().count("gb0126.md (its end marker is missing)") == 1
        assert "gb0127.md (it is not UTF-8" in result.summary()
        assert "unknown breaks: gb9999.md" in result.summary()
    assert b"Windows" in (tmp_path / "site" / "gb" / "gb0124.html").read_bytes()
    assert b"damaged" in (tmp_path / "site" / "gb" / "gb0126.html").read_bytes()


def test_the_last_line_names_what_is_damaged(tmp_path: Path, site_cli: SiteCli) -> None:
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "gb0124.md").write_text(f"{END}\nx\n{START}")
    result = site_cli("build", "-o", "out")
    assert result.returncode == 0
    assert (
        "without text" in result.stdout
    )  # Newer releases are known, but their texts are not available.
    assert "gb0124.md (its end marker comes before" in result.stdout.splitlines()[-1]


@pytest.mark.parametrize("content", ["", "{", '{"GB0001": []}', "[]", '{"GB0001": [{"Gb_t'])
def test_a_source_that_is_damaged_leaves_the_good_site(
    built: Path, tmp_path: Path, content: str
) -> None:
    before = files_in(built)
    file = tmp_path / "registry.json"
    file.write_text(content)
    with pytest.raises(FullgraphError, match=str(file)):
        rebuild(built, release=str(file))
    assert files_in(built) == before


def test_bad_input_is_one_line(site_cli: SiteCli, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"format": 1}')
    for options, words in (
        (("--release", "nonsense"), "nonsense"),
        (("--info", "nowhere"), "there is no folder nowhere"),
        (("--settings", "none.toml"), "there is no file none.toml"),
        (("--seen", "bad.json"), "the option --seen was renamed; use --reports"),
        (("--reports", "bad.json"), "bad.json is not a report"),
        (("--reports", "nothing.json"), "cannot read nothing.json"),
    ):
        result = site_cli("build", "-o", "out", *options)
        assert result.returncode == 2, options
        assert words in result.stderr
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_manifests_do_not_depend_on_when_or_where(built: Path, tmp_path: Path) -> None:
    """Manifests are committed with the site: a build without changes must not change them."""
    before = (built / MANIFEST).read_bytes()
    for file in built.rglob("*.html"):
        file.touch()
    rebuild(built)
    assert (built / MANIFEST).read_bytes() == before


def test_a_fresh_clone_of_a_published_site_has_nothing_to_commit(
    built: Path, tmp_path: Path
) -> None:
    """The scheduled workflow must not commit if nothing changed."""

    def git(*args: str, cwd: Path) -> str:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        command = ["git", *identity, *args]
        return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout

    git("init", "--quiet", cwd=built)
    git("add", "--all", cwd=built)
    git("commit", "--quiet", "--message", "site", cwd=built)
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(built), str(clone), cwd=tmp_path)
    assert rebuild(clone).rendered == 0
    assert git("status", "--porcelain", cwd=clone) == ""
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "gb0124.md").write_text(f"{START}\nNews.\n{END}\n")
    rebuild(clone)
    changed = {line[3:] for line in git("status", "--porcelain", cwd=clone).splitlines()}
    assert {"gb/gb0124.html", "api/gb/GB0124.json", MANIFEST} <= changed
    assert len(changed) < 12
