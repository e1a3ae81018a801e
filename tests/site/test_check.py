"""`site check` finds every kind of problem."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fullgraph.errors import FullgraphError
from fullgraph.site.check import check_site
from fullgraph.site.fingerprint import digest
from fullgraph.site.markers import START
from fullgraph.site.output import MANIFEST
from fullgraph.site.settings import make_plan
from tests.site.sitekit import SiteCli, rebuild


def problems(folder: Path, **options: str) -> tuple[str, ...]:
    return check_site(folder, make_plan(**options)).problems


def plant(folder: Path, name: str, old: str, new: str) -> None:
    """Change a file as if it had been built that way."""
    file = folder / name
    content = file.read_text().replace(old, new, 1).encode()
    assert content != file.read_bytes()
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"][name][1] = digest(content)
    (folder / MANIFEST).write_text(json.dumps(manifest))
    file.write_bytes(content)


def test_a_fresh_site_has_no_problems(built: Path) -> None:
    assert problems(built) == ()


def test_the_command_ends_with_1_and_a_line_each(built: Path, site_cli: SiteCli) -> None:
    assert site_cli("check", str(built)).returncode == 0
    (built / "gb" / "gb0124.html").unlink()
    (built / "index.html").write_text("x")
    result = site_cli("check", str(built))
    assert result.returncode == 1
    assert "gb/gb0124.html is missing; build again" in result.stdout.splitlines()
    assert "index.html was changed after it was built; build again" in result.stdout.splitlines()
    assert result.stderr == ""


WRONG = {
    '<a href="gone.html">x</a>': "the link gone.html leads nowhere",
    "<a href='../nope/'>x</a>": "the link ../nope/ leads nowhere",
    '<a href="gb0125.html#nowhere">x</a>': "gb0125.html#nowhere leads to no place on that page",
    '<a href="#nowhere">x</a>': "the link #nowhere leads to no place on that page",
    '<a href="/index.html">x</a>': "the link /index.html does not work under a sub-path",
    '<a href="javascript:alert(1)">x</a>': "javascript:alert(1) is of a kind that is not allowed",
    '<a href="../../etc/passwd">x</a>': "the link ../../etc/passwd leads nowhere",
    '<img src="https://a.example/x.png">': "loads https://a.example/x.png",
    '<script src="//b.example/x.js"></script>': "loads //b.example/x.js",
    '<link rel="stylesheet" href="https://c.example/x">': "loads https://c.example/x",
    "<style>a{background:url(https://d.example/x)}</style>": "loads https://d.example/x",
    '<script>fetch("https://e.example/x")</script>': "loads https://e.example/x",
    '<p style="background:url(//f.example)">': "loads //f.example",
}
FINE = (
    '<a href="https://github.com/x">x</a>',
    '<a href="mailto:a@b.c">x</a>',
    '<a href="../index.html?q=a#main">x</a>',
    '<a href="../categories/">x</a>',
    '<link rel="canonical" href="https://example.org/">',
    "<!-- <a href='gone.html'> -->",
    "<pre>&lt;a href='gone.html'></pre>",
)


def test_links_and_requests(built: Path) -> None:
    """Each problem is named once, and correct pages are not reported."""
    plant(built, "gb/gb0124.html", "</main>", "".join((*WRONG, *FINE, "</main>")))
    found = problems(built)
    assert all(line.startswith("gb/gb0124.html") for line in found)
    for complaint in WRONG.values():
        assert sum(line.endswith(complaint) for line in found) == 1, complaint
    assert len(found) == len(WRONG)


def test_scripts_and_style_sheets_load_nothing_from_elsewhere(built: Path) -> None:
    plant(built, "assets/site.css", "", "@import 'https://evil.example/x.css';\n")
    assert problems(built) == ("assets/site.css loads https://evil.example/x.css",)


def test_stale_pages_are_named(built: Path, tmp_path: Path) -> None:
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "gb0124.md").write_text(f"{START}\nno end")
    found = problems(built)
    assert "gb0124.md (its end marker is missing)" in found
    stale = [re.sub(r" is stale:.*", "", line) for line in found if "is stale" in line]
    assert {"gb/gb0124.html", "api/gb/GB0124.json"} <= set(stale)
    assert "gb/gb0125.html" not in stale
    rebuild(built)
    assert problems(built) == ("gb0124.md (its end marker is missing)",)


def test_a_site_of_another_fullgraph_is_stale(built: Path) -> None:
    manifest = json.loads((built / MANIFEST).read_bytes())
    (built / MANIFEST).write_text(json.dumps({**manifest, "maker": "another"}))
    assert problems(built) == ("the site was built by another version of fullgraph; build again",)


def test_orphans_are_notes_and_no_problems(built: Path, tmp_path: Path) -> None:
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "gb9999.md").write_text(f"{START}\nx\n<!-- ADDITIONAL INFORMATION END -->")
    rebuild(built)
    found = check_site(built, make_plan())
    assert (found.problems, found.notes) == (
        (),
        ("gb9999.md is about a break that no known release has; it gets a page of its own",),
    )


def test_what_is_no_site_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FullgraphError, match="is not a site"):
        check_site(tmp_path, make_plan())
