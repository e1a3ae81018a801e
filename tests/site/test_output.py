"""The output folder: only files of the site change, and no failure leaves it damaged."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from fullgraph.errors import FullgraphError
from fullgraph.site.build import write_site
from fullgraph.site.model import SiteData
from fullgraph.site.output import MANIFEST, opened, read_manifest
from tests.site.sitekit import SiteCli, files_in, rebuild, until


def mtimes(folder: Path) -> dict[str, int]:
    return {
        file.relative_to(folder).as_posix(): file.stat().st_mtime_ns
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(FullgraphError, match="not empty and not a site"):
        rebuild(folder)
    assert files_in(folder) == {"thesis.txt": b"years of work"}
    with pytest.raises(FullgraphError, match="is a file"):
        rebuild(folder / "thesis.txt")


def test_files_of_others_in_a_site_are_left_alone(built: Path) -> None:
    (built / "CNAME").write_text("breaks.example")
    (built / ".git").mkdir()
    (built / ".git" / "config").write_text("[core]")
    (built / "gb" / "note.txt").write_text("hello")
    result = rebuild(built)
    assert result.written == result.removed == ()
    assert (built / "CNAME").read_text() == "breaks.example"
    assert (built / ".git" / "config").read_text() == "[core]"
    assert (built / "gb" / "note.txt").read_text() == "hello"


def test_a_checkout_of_an_empty_branch_is_as_good_as_an_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    (folder / ".git").mkdir(parents=True)
    (folder / "CNAME").write_text("breaks.example")
    assert rebuild(folder).written
    assert (folder / "CNAME").read_text() == "breaks.example"
    assert (folder / ".nojekyll").exists()


def test_a_foreign_file_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / MANIFEST).write_text('{"format": 1}')
    (folder / "index.html").write_text("mine")
    with pytest.raises(FullgraphError, match=r"index\.html is not part of this site"):
        rebuild(folder)
    assert (folder / "index.html").read_text() == "mine"


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 99}', "\0\xff"])
def test_a_manifest_that_cannot_be_read_is_an_error(built: Path, content: str) -> None:
    before = mtimes(built)
    (built / MANIFEST).write_text(content, encoding="latin-1")
    with pytest.raises(FullgraphError, match="a new folder"):
        rebuild(built)
    assert {**mtimes(built), MANIFEST: before[MANIFEST]} == before


def test_what_did_not_change_keeps_its_time(built: Path) -> None:
    before = mtimes(built)
    result = rebuild(built)
    assert (result.rendered, result.written, result.removed) == (0, (), ())
    assert mtimes(built) == before


def test_what_somebody_changed_or_deleted_is_restored(built: Path) -> None:
    before = files_in(built)
    (built / "gb" / "gb0124.html").write_text("vandalised")
    (built / "index.html").unlink()
    page = built / "gb" / "gb0125.html"
    times = page.stat()
    page.write_bytes(page.read_bytes().replace(b"<h1", b"<h2", 1))
    os.utime(page, ns=(times.st_atime_ns, times.st_mtime_ns))  # the same size, the same time
    result = rebuild(built)
    assert result.written == ("gb/gb0124.html", "gb/gb0125.html", "index.html")
    assert files_in(built) == before


def test_pages_that_are_no_more_are_removed_with_their_folders(
    built: Path, installed_site: SiteData
) -> None:
    from msgspec.structs import replace

    breaks = {name: each for name, each in installed_site.breaks.items() if name != "GB0124"}
    smaller = replace(installed_site, breaks=breaks, categories=(), releases=())
    with opened(built) as folder:
        result = write_site(smaller, folder)
    assert "gb/gb0124.html" in result.removed
    assert not (built / "gb" / "gb0124.html").exists()
    assert not (built / "releases" / "2.13.0.html").exists()
    manifest = read_manifest(built)
    assert manifest is not None
    assert set(files_in(built)) == {*manifest.files, MANIFEST, ".nojekyll"}


def test_a_page_that_cannot_be_rendered_changes_nothing(
    built: Path, installed_site: SiteData, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullgraph.site.pages import feed

    before = files_in(built)

    def fail(*_: object) -> bytes:
        raise RuntimeError("out of ink")

    monkeypatch.setattr(feed, "_render", fail)
    from msgspec.structs import replace

    renamed = replace(installed_site, settings=replace(installed_site.settings, title="Other"))
    with pytest.raises(RuntimeError, match="out of ink"), opened(built) as folder:
        write_site(renamed, folder)
    assert files_in(built) == before


def test_a_folder_that_is_not_writable_is_one_clear_line(tmp_path: Path, site_cli: SiteCli) -> None:
    (tmp_path / "file").write_text("")
    result = site_cli("build", "-o", "file/site")
    assert result.returncode == 2
    assert result.stderr.startswith("fullgraph: ")
    assert result.stderr.count("\n") == 1


def test_a_full_disk_leaves_the_good_site(built: Path, tmp_path: Path, site_cli: SiteCli) -> None:
    """No file may be as large as the home page, which does not fit."""
    before = files_in(built)
    limit = (built / "index.html").stat().st_size - 1
    (tmp_path / "site.toml").write_text('title = "Another title"\n')
    result = subprocess.run(
        site_cli.command("build", "-o", str(built)),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=False,
    )
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "cannot write" in result.stderr
    assert {name: data for name, data in files_in(built).items() if name in before} == before
    assert site_cli("build", "-o", str(built)).returncode == 0
    assert b"Another title" in (built / "index.html").read_bytes()


# Concurrent and interrupted builds


def test_two_builds_at_once_leave_one_good_site(tmp_path: Path, site_cli: SiteCli) -> None:
    (tmp_path / "site.toml").write_text('title = "One"\n')
    (tmp_path / "other.toml").write_text('title = "Other"\n')
    processes = [
        site_cli.start("build", "-o", "out"),
        site_cli.start("build", "-o", "out", "--settings", "other.toml"),
    ]
    assert [process.wait(60) for process in processes] == [0, 0]
    checks = [site_cli("check", "out", "--settings", name) for name in ("site.toml", "other.toml")]
    assert sorted(check.returncode for check in checks) == [0, 1]  # One of the two was last.
    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    assert set(files_in(tmp_path / "out")) == {*manifest.files, MANIFEST, ".nojekyll"}


def test_a_killed_build_leaves_a_good_site_and_the_next_one_cleans_up(
    tmp_path: Path, site_cli: SiteCli, built: Path
) -> None:
    """A build may be killed at any moment, even while files are renamed."""
    seed = random.Random(5)
    for attempt in range(4):
        (tmp_path / "site.toml").write_text(f'title = "Attempt {attempt}"\n')
        process = site_cli.start("build", "-o", str(built))
        # The first ones as soon as the first file exists, others later.
        marker = built / ".fullgraph-site.new"
        until(lambda m=marker, p=process: m.exists() or p.poll() is not None, "it writes")
        time.sleep(seed.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # Every page is complete, whichever build it is from.
        for page in (built / "gb").glob("*.html"):
            assert page.read_bytes().rstrip().endswith(b"</html>")
    assert site_cli("build", "-o", str(built)).returncode == 0
    checked = site_cli("check", str(built))
    assert (checked.returncode, checked.stdout.splitlines()[-1:]) == (
        0,
        [f"{len(read_manifest(built).files)} files, no problems"],  # type: ignore[union-attr]
    )
    manifest = read_manifest(built)
    assert manifest is not None
    assert set(files_in(built)) == {*manifest.files, MANIFEST, ".nojekyll"}
