from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fullgraph.fix.declarations import declarations
from fullgraph.registry.message_templates import readable_type
from fullgraph.registry.pages import rows
from fullgraph.registry.sources import all_histories, require_installed


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))


def explain(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fullgraph", "explain", *args],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONUTF8": "1"},
    )


def wording_of(identifier: str) -> tuple[str, str]:
    wording = require_installed().entries[identifier][0]
    return wording.type, wording.explanation


def test_an_id() -> None:
    result = explain("GB0124")
    type_, explanation = wording_of("GB0124")
    assert result.returncode == 0
    assert result.stdout.startswith(f"GB0124  {type_}\n")
    text = " ".join(result.stdout.split())
    assert explanation in text
    assert "since 2.8.0 · live in your torch" in text
    assert "how to fix 1." in text
    assert "https://github.com/pytorch/pytorch/blob/v" in text
    assert max(len(line) for line in result.stdout.splitlines() if "https://" not in line) <= 80


def test_the_same_as_json() -> None:
    page = json.loads(explain("gb124", "--format", "json").stdout)
    assert page["id"] == "GB0124"
    assert page["live"] is True
    assert page["first_release"] == "2.8.0"
    assert page["how_to_fix"][0]["source"] == "fullgraph"
    assert page["call_sites"][0]["link"].endswith(f"#L{page['call_sites'][0]['line']}")


def test_an_entry_names_the_fixers_that_list_its_id() -> None:
    text = " ".join(explain("GB0124").stdout.split())
    assert (
        "fullgraph fix can do this; see fullgraph explain NAME: "
        "- capture_scalar_outputs (`.item()` → unbacked symbol in the graph)"
    ) in text
    page = json.loads(explain("GB0124", "--format", "json").stdout)
    assert "capture_scalar_outputs" in page["fixers"]


def test_an_entry_that_no_fixer_lists_names_those_of_its_category() -> None:
    listed = {id_ for each in declarations() for id_ in each.ids}
    entries = rows(require_installed(), all_histories())
    ids = [row.id for row in entries if row.category == "mutation" and row.id not in listed]
    texts = [explain(id_).stdout for id_ in ids[:8]]
    fixable = next(text for text in texts if "fixable   yes" in text)
    assert "fullgraph fix can do this in some cases; see fullgraph explain NAME:" in fixable
    assert "- buffer_reassignment (" in fixable
    hopeless = next(text for text in texts if "fixable   not by you" in text)
    assert "fullgraph fix can" not in hopeless


def test_a_fixer() -> None:
    result = explain("capture_scalar_outputs")
    assert result.returncode == 0
    title = "capture_scalar_outputs  `.item()` → unbacked symbol in the graph\n"
    assert result.stdout.startswith(title)
    for part in (
        "setting · exact",
        "\nWhy it breaks\n    `.item()`",
        "\nbreaks    GB0124",
        "\nExample: ",
        "\n    import torch\n",
        "\n    + torch._dynamo.config.capture_scalar_outputs = True\n",
    ):
        assert part in result.stdout
    page = json.loads(explain("capture_scalar_outputs", "--format", "json").stdout)
    assert page["name"] == "capture_scalar_outputs"
    assert page["examples"][0]["diff"].startswith("+ torch._dynamo.config")


def test_a_category() -> None:
    result = explain("user-requested")
    assert result.returncode == 0
    assert "torch.compiler.disable" in result.stdout
    assert "fullgraph registry list --category user-requested" in result.stdout
    page = json.loads(explain("user-requested", "--format", "json").stdout)
    assert (page["name"], page["fixable"]) == ("user-requested", "yes")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("asked-for", "user-requested"),
        ("not-entered", "untraced-calls"),
        ("effects", "side-effects"),
    ],
)
def test_an_old_name_of_a_category_leads_to_the_new_one(old: str, new: str) -> None:
    result = explain(old)
    assert result.returncode == 2
    assert result.stderr == f"fullgraph: the category {old} was renamed; use {new}\n"


def test_nothing_slow_is_imported() -> None:
    code = (
        "import sys\nfrom fullgraph.commands import cli\n"
        "cli(['explain', 'GB0124'], standalone_mode=False)\n"
        "slow = {'torch', 'jinja2', 'rich', 'importlib.metadata', 'urllib3', 'ssl', 'difflib',\n"
        "        'fullgraph.fix.fixers', 'fullgraph.render.fixer.text'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_pasted_text_from_an_argument_and_from_a_pipe() -> None:
    type_, explanation = wording_of("GB0124")
    text = f"torch._dynamo.exc.Unsupported: {type_}\n  Explanation: {explanation}\n"
    for result in (explain(text), explain(stdin=text), explain("-", stdin=text)):
        assert result.returncode == 0
        assert result.stdout.startswith("GB0124")


def test_json_of_a_text_has_the_best_entry_and_all_matches() -> None:
    first, second = wording_of("GB0124")[0], wording_of("GB0170")[0]
    result = explain(f"{first}\nand then {second}", "--format", "json")
    page = json.loads(result.stdout)
    assert page["id"] == "GB0124"
    assert [match["candidates"][0]["id"] for match in page["matches"]] == ["GB0124", "GB0170"]
    assert "capture_scalar_outputs" in page["fixers"]


def test_several_breaks_are_all_explained() -> None:
    first, second = wording_of("GB0124")[0], wording_of("GB0170")[0]
    result = explain(stdin=f"{first}\nand then {second}")
    assert "This text has 2 breaks" in result.stdout
    assert f"GB0124  {first}" in result.stdout
    assert f"GB0170  {second}" in result.stdout


def test_ambiguity_is_shown() -> None:
    # Two entries that have, or had, this type.
    owners: dict[str, list[str]] = {}
    for identifier, wordings in require_installed().entries.items():
        for type_ in {wording.type for wording in wordings}:
            owners.setdefault(type_, []).append(identifier)
    type_, ids = next((type_, ids) for type_, ids in owners.items() if len(ids) > 1)
    result = explain(readable_type(type_))
    assert "Its type matches 2 entries" in result.stdout
    assert all(identifier in result.stdout for identifier in ids)


def test_nothing_lists_the_categories() -> None:
    result = explain()
    assert result.returncode == 0
    assert "data-dependent" in result.stdout
    assert f"one of the {len(declarations())} fixers of fullgraph fix." in result.stdout
    rows = json.loads(explain("--format", "json").stdout)
    assert sum(row["entries"] for row in rows) == len(require_installed().entries)


@pytest.mark.parametrize(
    ("what", "complaint"),
    [
        ("GB9999", "no known release has GB9999; the nearest are GB"),
        ("an unheard-of zebra", "no registry entry matches this text"),
        ("zzqx", "; paste all lines of the message"),
        ("tensor item scalar zebra", "the most similar are GB0124"),
        ("branch_to_wher", "did you mean branch_to_where?"),
        ("branch-to-where", "did you mean branch_to_where?"),
        ("data_dependant", "did you mean data-dependent?"),
    ],
)
def test_what_is_unknown(what: str, complaint: str) -> None:
    result = explain(what)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not result.stdout


def test_an_entry_of_a_newer_torch_says_how_to_get_it() -> None:
    newer = "GB0377"
    if newer in require_installed().entries:
        pytest.skip("the installed torch has it")
    result = explain(newer)
    assert result.returncode == 2
    assert "is new in torch 2.14.0" in result.stderr
    assert "registry sync --releases" in result.stderr


def test_text_from_elsewhere_does_not_steer_the_terminal() -> None:
    type_, _ = wording_of("GB0124")
    result = explain(stdin=f"\x1b]0;title\x07\x1b[31m{type_}\x1b[0m")
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
