from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fullgraph.commands.registry import command
from fullgraph.errors import FullgraphError
from fullgraph.installed_torch import torch_folder
from fullgraph.registry.entries import REGISTRY_FILE
from fullgraph.registry.sources import require_installed


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))


@pytest.fixture
def registry_file(tmp_path: Path) -> Path:
    """Return the installed registry with a new, a reworded and a removed entry."""
    torch = torch_folder()
    assert torch is not None
    entries = json.loads((torch / REGISTRY_FILE).read_bytes())
    del entries["GB0000"]
    new = copy.deepcopy(entries["GB0124"][0])
    new["Gb_type"] = "Cannot juggle"
    entries["GB9990"] = [new]
    entries["GB0125"].insert(0, {**entries["GB0125"][0], "Hints": ["Do not."]})
    file = tmp_path / "registry.json"
    file.write_text(json.dumps(entries))
    return file


def run(*args: str) -> Result:
    return CliRunner().invoke(command, args, catch_exceptions=False)


def rows(*args: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(run(*args, "--format", "json").stdout)
    return found


def test_list_has_every_entry_with_its_facts() -> None:
    listed = rows("list")
    entries = require_installed().entries
    assert [row["id"] for row in listed] == sorted(entries)
    item = next(row for row in listed if row["id"] == "GB0124")
    assert item["type"] == entries["GB0124"][0].type
    assert (item["live"], item["first_release"], item["category"]) == (
        True,
        "2.8.0",
        "data-dependent",
    )
    assert "entries of the" in run("list").stdout.splitlines()[-1]


def test_the_earlier_name_of_the_text_format_still_works() -> None:
    text = run("list", "--category", "mutation").stdout
    assert run("list", "--category", "mutation", "--format", "table").stdout == text
    assert "entries of the " in text


def test_live_and_retired_are_all_there_is() -> None:
    live, retired = rows("list", "--live"), rows("list", "--retired")
    assert len(live) + len(retired) == len(require_installed().entries)
    assert live
    assert retired
    assert all(row["live"] for row in live)
    assert not any(row["live"] for row in retired)
    assert all(row["gone_since"] for row in retired)


def test_categories_are_all_there_is() -> None:
    listed = rows("list")
    category = str(listed[0]["category"])
    assert rows("list", "--category", category) == [
        row for row in listed if row["category"] == category
    ]
    with pytest.raises(FullgraphError, match="did you mean data-dependent"):
        run("list", "--category", "data-dependant")
    with pytest.raises(FullgraphError, match="effects was renamed; use side-effects"):
        run("list", "--category", "effects")


def test_search() -> None:
    assert rows("search", "item scalar")[0]["id"] == "GB0124"
    assert rows("search", "item", "scalar")[0]["id"] == "GB0124"
    assert rows("search", require_installed().entries["GB0170"][0].type)[0]["id"] == "GB0170"
    assert len(rows("search", "tensor", "--most", "5")) == 5
    assert run("search", "zebra").stdout == "no entry for 'zebra'\n"


def test_show_is_explain() -> None:
    assert run("show", "GB0124").stdout.startswith("GB0124  ")
    with pytest.raises(FullgraphError, match="not an id such as"):
        run("show", "hello")


def test_diff_with_a_file(registry_file: Path) -> None:
    release = require_installed().release
    found = json.loads(run("diff", release, str(registry_file), "--format", "json").stdout)
    assert [row["id"] for row in found["new"]] == ["GB9990"]
    assert [(each["id"], each["changed"]) for each in found["reworded"]] == [("GB0125", ["hints"])]
    # A single file has no source code.
    assert found["retired"] is None
    text = run("diff", release, str(registry_file)).stdout
    assert "1 new, 1 reworded" in text
    assert "Cannot juggle" in text
    assert "has no torch source code" in text


def test_sync_keeps_a_file_under_a_name(registry_file: Path) -> None:
    count = len(require_installed().entries)
    assert f"{count} entries" in run("sync", "--from", str(registry_file), "--as", "mine").stdout
    listed = rows("list", "--release", "mine")
    assert listed[-1]["id"] == "GB9990"
    assert listed[-1]["live"] is None
    with pytest.raises(FullgraphError, match="live entries are unknown"):
        run("list", "--release", "mine", "--live")


def test_a_bad_file_is_an_error_and_the_good_one_stays(registry_file: Path) -> None:
    run("sync", "--from", str(registry_file), "--as", "mine")
    entries = json.loads(registry_file.read_text())
    del entries["GB0124"][0]["Context"]
    registry_file.write_text(json.dumps(entries))
    with pytest.raises(FullgraphError, match="GB0124 lacks the field Context"):
        run("sync", "--from", str(registry_file), "--as", "mine")
    assert rows("list", "--release", "mine")[-1]["id"] == "GB9990"


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["sync", "--from", "x", "--releases", "2.15"], "two different sources"),
        (["sync", "--as", "x"], "add --from SOURCE"),
        (["sync", "--check"], "name the folder"),
        (["list", "--release", "2.7"], "use 2.8 or later"),
        (["list", "--release", "nothing"], "neither a release such as 2.15"),
    ],
)
def test_bad_input(args: list[str], complaint: str) -> None:
    with pytest.raises(FullgraphError, match=complaint):
        run(*args)


def test_facts_can_be_checked(registry_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "facts"
    folder.mkdir()
    args = ("sync", "--from", str(registry_file), "--facts", str(folder))
    with pytest.raises(FullgraphError, match="stale"):
        run(*args, "--check")
    run(*args)
    run(*args, "--check")
    text = (folder / "latest.json").read_text()
    assert "GB9990" in text
    assert "juggle" not in text


def test_audit_of_the_installed_torch() -> None:
    found = json.loads(run("audit", "--format", "json").stdout)
    entries = require_installed().entries
    assert found["entries"] == len(entries)
    assert found["live"] + len(found["without_call_site"]) == len(entries)
    assert {each["id"] for each in found["without_hints"]} == {
        identifier for identifier, wordings in entries.items() if not wordings[0].hints
    }
    assert all(call["type"] and call["line"] for call in found["calls_without_entry"])


def test_audit_in_words(registry_file: Path) -> None:
    short = run("audit", "--release", str(registry_file)).stdout
    assert "entries without a hint" in short
    assert "has no torch source code" in short
    assert "more with --all" in short
    assert "more with --all" not in run("audit", "--release", str(registry_file), "--all").stdout
