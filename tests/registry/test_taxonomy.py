"""Every entry of the installed registry has one category, and each category has a page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from fullgraph.errors import RegistryError
from fullgraph.installed_torch import FILE, release_of, torch_folder, torch_version
from fullgraph.registry.taxonomy import (
    CATEGORIES,
    USER_REQUESTED,
    advice_for,
    category_named,
    category_of,
    counts,
    deciding_rule,
    fixability_of,
    is_category,
    page_of,
    title_of,
)
from fullgraph.registry.taxonomy import fixability as facts
from fullgraph.registry.taxonomy.rules import NAMED, RULES

NAMES = {category.name for category in CATEGORIES}
SECTIONS = ["## What it is", "## How to recognize it", "## How to fix"]
DOCUMENT = Path(__file__).parents[2] / "docs" / "taxonomy.md"


def _registry() -> dict[str, list[dict[str, Any]]]:
    folder = torch_folder()
    assert folder is not None
    entries: dict[str, list[dict[str, Any]]] = json.decode((folder / "_dynamo" / FILE).read_bytes())
    return entries


ENTRIES = _registry()
ISSUE_CATEGORIES = {
    "data-dependent", "dynamic-shapes", "side-effects", "python", "untraced-calls",
    "context-managers", "exceptions", "mutation", "autograd", "subclasses", "higher-order",
    "custom-operators",
    "distributed", "user-requested", "limits", "eager-errors", "dynamo-bugs",
}  # fmt: skip


def test_the_categories_are_those_of_the_design() -> None:
    assert NAMES == ISSUE_CATEGORIES
    assert USER_REQUESTED in NAMES
    assert {rule.category for rule in (*RULES, *NAMED)} <= NAMES


def test_a_rule_decides_about_every_wording_of_every_entry() -> None:
    unknown = [
        (identifier, wording["Gb_type"])
        for identifier, wordings in ENTRIES.items()
        for wording in wordings
        if deciding_rule(wording["Gb_type"], wording["Explanation"]) is None
    ]
    assert unknown == []


def test_all_wordings_of_an_entry_are_in_one_category() -> None:
    for identifier, wordings in ENTRIES.items():
        assert len({category_of(wording["Gb_type"]) for wording in wordings}) == 1, identifier


def test_no_category_is_empty_and_none_holds_most() -> None:
    sizes = dict.fromkeys(NAMES, 0)
    for wordings in ENTRIES.values():
        sizes[category_of(wordings[0]["Gb_type"])] += 1
    assert min(sizes.values()) > 0
    assert max(sizes.values()) < len(ENTRIES) / 3


# Expected categories, assigned by hand.
EXPECTED = {
    "data-dependent": "GB0170 GB0124 GB0033 GB0034 GB0035 GB0038 GB0109 GB0207 GB0569 GB6622",
    "dynamic-shapes": "GB0036 GB0037 GB0018 GB0246 GB0214",
    "side-effects": "GB0291 GB0296 GB0230 GB7650",
    "untraced-calls": "GB0007 GB0008 GB0059 GB0147 GB0014 GB0208 GB0158 GB0179 GB0055",
    "context-managers": "GB0142 GB0066 GB0221 GB0370 GB2533",
    "exceptions": "GB0088 GB0057 GB0171 GB0288 GB9625",
    "mutation": "GB0056 GB0072 GB0096 GB0126 GB0247 GB0358 GB5976",
    "autograd": "GB0123 GB0083 GB0029 GB0104 GB0225 GB0264 GB0206 GB9186 GB0045",
    "subclasses": "GB0015 GB0016 GB0103 GB0000 GB0227 GB0233",
    "higher-order": "GB0067 GB0040 GB0310 GB0339 GB0349 GB9741 GB0328",
    "custom-operators": "GB0043 GB0087 GB0090 GB0216 GB0265 GB0363 GB0236 GB3840 GB4695",
    "distributed": "GB0053 GB0172 GB0210 GB3343 GB9860",
    "user-requested": "GB0025 GB0098 GB0099 GB0030 GB4297 GB0269",
    "limits": "GB0039 GB7000 GB0052 GB0192 GB2549",
    "eager-errors": "GB0011 GB0111 GB0182 GB0196 GB5173 GB0002 GB7312",
    "dynamo-bugs": "GB0093 GB0116 GB0219 GB0122 GB9648 GB0205",
    "python": "GB0003 GB0024 GB0031 GB0075 GB0082 GB0092 GB0134 GB0156 GB0190 GB0222 GB0811 GB4347 "
              "GB8335 GB9672 GB4778 GB0254",
}  # fmt: skip


@pytest.mark.parametrize("category", sorted(EXPECTED))
def test_well_known_entries_are_where_an_expert_expects_them(category: str) -> None:
    found = {i: category_of(ENTRIES[i][0]["Gb_type"]) for i in EXPECTED[category].split()}
    assert found == dict.fromkeys(found, category)


@pytest.mark.parametrize(
    ("identifier", "explanation", "category"),
    [
        ("GB0059", "cannot trace builtin operator `print` with ['Tensor']", "side-effects"),
        ("GB0059", "cannot trace builtin operator `range` with ['Tensor']", "untraced-calls"),
        ("GB0007", "the Python builtin `_warnings.warn`.", "side-effects"),
        (
            "GB0007",
            "the builtin `time.time.` It is a builtin (e.g. _warnings.warn)",
            "side-effects",
        ),
        (
            "GB0007",
            "the builtin `_json.scan.` It is a builtin (e.g. _warnings.warn)",
            "untraced-calls",
        ),
        ("GB0007", "function `Random.seed` in file `/lib/python3.11/random.py`", "side-effects"),
        ("GB0007", "function `f` in file `/torch/distributed/c10d.py`", "distributed"),
        ("GB0156", "method `write` of class `TextIOWrapper`", "side-effects"),
        ("GB0156", "method `frobnicate` of class `list`", "python"),
        ("GB4315", "There was no fake impl registered for <CustomOpDef(a::b)>", "custom-operators"),
        ("GB4315", "got RuntimeError('shapes cannot be multiplied')", "eager-errors"),
    ],
)
def test_one_entry_for_many_functions_is_told_apart_by_its_explanation(
    identifier: str, explanation: str, category: str
) -> None:
    assert category_of(ENTRIES[identifier][0]["Gb_type"], explanation) == category


def test_unknown_words_still_get_a_category() -> None:
    assert deciding_rule("frobnication of a gizmo") is None
    assert category_of("frobnication of a gizmo") in NAMES
    assert category_of("") in NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_category_has_a_title_advice_and_a_page_with_its_sections(name: str) -> None:
    assert title_of(name)
    assert advice_for(name).endswith(".")
    assert "\n" not in advice_for(name)
    page = page_of(name)
    assert [line for line in page.splitlines() if line.startswith("## ")] == SECTIONS
    rows = [line for line in page.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 3
    # Each fix has a kind, instructions, and whether the result is one graph.
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)


def _plain(text: str) -> str:
    return " ".join(text.split())


def test_pages_hold_no_wording_of_the_registry() -> None:
    ours = _plain("\n".join(page_of(n) + advice_for(n) for n in NAMES) + DOCUMENT.read_text())
    for identifier, wordings in ENTRIES.items():
        for wording in wordings:
            for text in map(_plain, (wording["Explanation"], *wording["Hints"])):
                # Names of settings may occur in both.
                prose = re.sub(r"`[^`]*`", "", text)
                assert len(prose) < 40 or text not in ours, f"{identifier}: {text}"


def test_facts_speak_a_small_language_and_agree_with_each_other() -> None:
    for identifier, wordings in ENTRIES.items():
        newest = wordings[0]
        known = fixability_of(
            identifier, newest["Gb_type"], tuple(newest["Hints"]), newest["Explanation"]
        )
        assert known.fixable in ("yes", "sometimes", "no")
        assert known.cost in ("one line", "local rewrite", "restructure", "not by you")
        assert (known.fixable == "no") == (known.cost == "not by you"), identifier


def _facts(identifier: str) -> facts.Fixability:
    newest = ENTRIES[identifier][0]
    return fixability_of(
        identifier, newest["Gb_type"], tuple(newest["Hints"]), newest["Explanation"]
    )


def test_facts_of_well_known_entries() -> None:
    assert _facts("GB0124") == ("yes", "one line", False)
    assert _facts("GB0170") == ("yes", "local rewrite", False)
    assert _facts("GB0025") == ("yes", "one line", False)
    assert _facts("GB0011") == ("yes", "local rewrite", True)
    assert _facts("GB0310").eager_fails
    assert not _facts("GB0371").eager_fails
    assert _facts("GB0219") == ("no", "not by you", False)
    missing_fake = "There was no fake impl registered for a::b"
    assert not fixability_of("GB4315", "RuntimeError when making fake tensor call",
                        tuple(ENTRIES["GB4315"][0]["Hints"]), missing_fake).eager_fails  # fmt: skip


def test_every_id_in_the_tables_exists_and_is_needed() -> None:
    listed = {*facts.FIXES, *facts.RUNS_IN_EAGER, *facts.FAILS_IN_EAGER}
    assert listed <= ENTRIES.keys()
    for identifier in facts.RUNS_IN_EAGER:
        hints = "\n".join(ENTRIES[identifier][0]["Hints"])
        assert re.search(facts.USER_ERROR, hints), identifier


def test_the_committed_counts_are_those_of_the_installed_torch() -> None:
    version = torch_version()
    assert version is not None
    if release_of(version) not in counts.read_table(DOCUMENT.read_text("utf-8")):
        pytest.skip(f"the table has no column for torch {version}")
    assert counts.main(["--check", str(DOCUMENT)]) == 0


def test_stale_counts_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stale = tmp_path / "taxonomy.md"
    stale.write_text(f"{counts.START}\n{counts.END}\n")
    assert counts.main(["--check", str(stale)]) == 1
    assert "stale" in capsys.readouterr().out
    assert counts.main([str(stale)]) == 0
    assert counts.main(["--check", str(stale)]) == 0


def test_importing_the_taxonomy_imports_nothing_heavy() -> None:
    code = (
        "import sys, fullgraph.registry.taxonomy;"
        "print([m for m in ('torch', 'msgspec', 'click', 'dataclasses', 'tomllib')"
        " if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_code_in_the_pages_runs() -> None:
    torch = pytest.importorskip("torch")
    blocks = [
        (name, block)
        for name in sorted(NAMES)
        for block in re.findall(r"^```python\n(.*?)^```", page_of(name), re.DOTALL | re.MULTILINE)
    ]
    assert len(blocks) >= 10
    for name, block in blocks:
        torch._dynamo.reset()
        exec(compile(block, f"{name}.md", "exec"), {"__name__": name})


def test_a_category_is_found_by_its_name_and_by_no_earlier_one() -> None:
    assert category_named("limits") == next(each for each in CATEGORIES if each.name == "limits")
    assert [is_category(name) for name in ("limits", "effects", "nonsense")] == [True, True, False]
    with pytest.raises(RegistryError, match="effects was renamed; use side-effects"):
        category_named("effects")
    with pytest.raises(RegistryError, match="did you mean autograd"):
        category_named("autograds")
    with pytest.raises(RegistryError, match="use one of data-dependent, "):
        category_named("qqq")


EAGER = "The program has an error when running in eager mode."
BUG = "This is likely to be a Dynamo bug."
SETTING = "Set torch._dynamo.config.capture_scalar_outputs = True."
LOGGERS = "Use torch._dynamo.config.reorderable_logging_functions."
ENVIRONMENT = "Set TORCHDYNAMO_DISABLE_GUARDS=1."
NO_FAKE = "There was no fake impl registered for a::b"


@pytest.mark.parametrize(
    ("identifier", "category", "hints", "explanation", "expected"),
    [
        # The category decides without a hint that says more.
        (None, "data-dependent", (), "", ("yes", "local rewrite", False)),
        (None, "data-dependent", (LOGGERS,), "", ("yes", "local rewrite", False)),
        (None, "data-dependent", ("Look.", SETTING), "", ("yes", "one line", False)),
        (None, "data-dependent", (ENVIRONMENT,), "", ("yes", "one line", False)),
        (None, "limits", (EAGER,), "", ("yes", "local rewrite", True)),
        (None, "data-dependent", (BUG, SETTING), "", ("no", "not by you", False)),
        # An error in the program is the user's, whatever the hint says.
        (None, "eager-errors", (BUG,), "", ("yes", "local rewrite", True)),
        (None, "eager-errors", (), NO_FAKE, ("yes", "local rewrite", False)),
        (None, "user-requested", (BUG,), "", ("yes", "one line", False)),
        # The tables of ids win.
        ("GB0040", "limits", (BUG,), "", ("yes", "one line", False)),
        ("GB0065", "limits", (), "", ("sometimes", "local rewrite", False)),
        ("GB0102", "limits", (), "", ("sometimes", "restructure", False)),
        ("GB0200", "limits", (SETTING,), "", ("no", "not by you", False)),
        ("GB0184", "limits", (EAGER,), "", ("yes", "local rewrite", False)),
        ("GB0049", "data-dependent", (), "", ("yes", "local rewrite", True)),
    ],
)
def test_id_hints_and_category_decide_who_can_fix_a_break(
    identifier: str | None,
    category: str,
    hints: tuple[str, ...],
    explanation: str,
    expected: tuple[str, str, bool],
) -> None:
    found = facts.derive_fixability(identifier, category_named(category), hints, explanation)
    assert found == expected


def test_the_table_of_counts_keeps_other_releases_and_sorts_them() -> None:
    head, tail = f"before\n{counts.START}\n", f"{counts.END}\nafter\n"
    assert counts.read_table(head + tail) == {}
    columns = {(2, 10): {"limits": 3, "all": 5}, (2, 9): {"limits": 2, "python": 1, "all": 3}}
    document = counts.write_table(head + tail, columns)
    lines = document.splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert lines[2] == "| category | 2.9 | 2.10 |"
    assert lines[3] == "| --- | ---: | ---: |"
    assert "| `limits` | 2 | 3 |" in lines
    assert "| `python` | 1 | 0 |" in lines
    assert "| all | 3 | 5 |" in lines
    everything = {category.name: 0 for category in CATEGORIES}
    assert counts.read_table(document) == {
        release: everything | column for release, column in columns.items()
    }
    with pytest.raises(SystemExit, match="no place for the counts"):
        counts.read_table("nothing")


def test_counts_are_read_from_a_folder(tmp_path: Path) -> None:
    registry = tmp_path / "torch" / "_dynamo" / FILE
    registry.parent.mkdir(parents=True)
    wording = {"Context": "", "Explanation": "", "Hints": []}
    entries = {
        "GB0001": [{"Gb_type": "Data-dependent branching", **wording}],
        # The newest wording counts.
        "GB0002": [{"Gb_type": "Data-dependent x", **wording}, {"Gb_type": "print", **wording}],
    }
    registry.write_bytes(json.encode(entries))
    release, found = counts.column_of(f"2.9.1={tmp_path}")
    assert (release, found) == ((2, 9), {"data-dependent": 2, "all": 2})
    document = tmp_path / "taxonomy.md"
    document.write_text(f"{counts.START}\n{counts.END}\n")
    assert counts.main([str(document), f"2.9={tmp_path}"]) == 0
    assert counts.read_table(document.read_text())[2, 9]["all"] == 2
    for wrong in ("2.9", f"2.9={tmp_path / 'torch'}"):
        with pytest.raises(SystemExit, match="is not RELEASE=FOLDER with a registry"):
            counts.column_of(wrong)
