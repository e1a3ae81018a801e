"""The catalog as a whole: the content of its files, and that no id is in two places."""

from __future__ import annotations

import ast
import builtins
import json
import re
import symtable
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from fullgraph.catalog.parse import (
    CatalogError,
    example_ids,
    example_keys,
    read_example,
    read_variants,
    unreachable,
)
from fullgraph.catalog.verdicts import Verdict, read_verdicts
from fullgraph.installed_torch import FILE, torch_folder, torch_version
from fullgraph.model import fix_kinds
from fullgraph.registry.releases import base_of
from tests.conftest import Cli

EXAMPLES = [example for example in map(read_example, example_keys()) if example]
REASONS = ("needs ", "internal", "unreachable", "retired")


def registry() -> dict[str, list[dict[str, Any]]]:
    folder = torch_folder()
    assert folder is not None
    entries: dict[str, list[dict[str, Any]]] = json.loads((folder / "_dynamo" / FILE).read_text())
    return entries


def test_every_file_says_how_the_break_happens_and_what_to_do() -> None:
    assert len(EXAMPLES) >= 2
    for example in EXAMPLES:
        assert len(example.how) >= 40, example.id
        assert example.fixes or example.instead, example.id
        for fix in example.fixes:
            assert fix.kind in get_args(fix_kinds.Kind), example.id
            assert fix.safety in get_args(fix_kinds.Safety), example.id
            assert len(fix.why) >= 20, (example.id, fix.name)


def test_shown_code_is_a_program_without_the_decorator() -> None:
    for example in EXAMPLES:
        for source in (example.breaks, *(fix.source for fix in example.fixes)):
            ast.parse(source)
            assert "fullgraph" not in re.sub(r"fullgraph_catalog|fullgraph=", "", source), (
                example.id
            )


def _free_names(table: symtable.SymbolTable) -> set[str]:
    """Return the names that a program uses and does not define."""
    bound = {each.get_name() for each in table.get_symbols() if not each.is_referenced()}
    bound |= {each.get_name() for each in table.get_symbols() if each.is_assigned()}
    bound |= {each.get_name() for each in table.get_symbols() if each.is_imported()}

    def used(part: symtable.SymbolTable) -> Iterator[str]:
        yield from (each.get_name() for each in part.get_symbols() if each.is_global())
        for child in part.get_children():
            yield from used(child)

    return {name for name in used(table) if name not in bound and not hasattr(builtins, name)}


def test_shown_code_defines_everything_that_it_uses() -> None:
    # The example of GB0354 is about a name that does not exist.
    for example in (each for each in EXAMPLES if each.id != "GB0354"):
        for source in (example.breaks, *(fix.source for fix in example.fixes)):
            missing = _free_names(symtable.symtable(source, example.id, "exec"))
            assert missing <= {"__file__", "__name__"}, (example.id, missing)


def test_a_helper_is_shown_only_where_it_is_used() -> None:
    example = read_example("GB0102")
    assert example is not None
    assert "class Scale(" in example.breaks
    assert "class ScaleDense(" not in example.breaks
    assert "class Scale(" not in example.fixes[0].source
    assert "class ScaleDense(" in example.fixes[0].source


def test_functions_registered_for_an_operator_are_shown_with_it() -> None:
    example = read_example("GB0087")
    assert example is not None
    assert "@unit_rows.register_fake" in example.breaks
    assert "@unit_rows_complete.register_fake" in example.fixes[0].source
    assert "@unit_rows.register_fake" not in example.fixes[0].source


def test_every_id_is_in_the_registry_and_in_one_place_only() -> None:
    ids = set(registry())
    assert set(example_ids()) <= ids
    assert set(unreachable()) <= ids
    assert not set(unreachable()) & set(example_ids())


def test_a_variant_belongs_to_an_entry_and_says_what_it_is_about() -> None:
    variants = [example for example in EXAMPLES if example.key != example.id]
    assert variants
    for example in variants:
        assert example.id in example_ids()
        assert example in read_variants(example.id)
        # The chips on the page name the example and all variants.
        whole = read_example(example.id)
        assert whole is not None
        assert whole.title
        assert example.title
    assert read_variants("GB0170") == ()


def test_every_unreachable_entry_has_a_reason() -> None:
    for identifier, reason in unreachable().items():
        assert reason.startswith(REASONS), identifier
        assert len(reason) >= 20, identifier


def test_the_registrys_sentences_are_not_repeated() -> None:
    sentences = {
        text
        for wordings in registry().values()
        for wording in wordings
        for text in (wording["Explanation"], *wording["Hints"])
        if len(text) >= 40
    }
    for example in EXAMPLES:
        words = " ".join(example.file.read_text().split())
        assert not [sentence for sentence in sentences if sentence in words], example.id


def test_a_file_without_its_functions_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gb0001.py").write_text('"""Nothing."""\n')
    monkeypatch.setattr("fullgraph.catalog.parse.ENTRIES", tmp_path)
    with pytest.raises(CatalogError, match=r"gb0001.py needs the functions `breaks` and `inputs`"):
        read_example("GB0001")


def write_entry(folder: Path, body: str) -> None:
    (folder / "gb0170.py").write_text(
        '"""An example that was written for this test alone."""\n'
        "import torch\n"
        "from fullgraph.catalog.fix_decorator import fix\n"
        "def inputs():\n    return torch.ones(3)\n"
        f"{body}"
    )


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("def breaks(x):\n    return x + 1\nINSTEAD = 'none'\n", "it raises nothing"),
        (
            "def breaks(x):\n    torch._dynamo.graph_break()\n    return x\nINSTEAD = 'none'\n",
            "GB0025",
        ),
        (
            "def breaks(x):\n    return x + 1 if x.sum() > 0 else x\n"
            "@fix('rewrite', 'exact')\ndef fixed(x):\n    '''Why.'''\n    return x + 2\n",
            "fixed: it differs from breaks",
        ),
        (
            "def breaks(x):\n    return x + 1 if x.sum() > 0 else x\n"
            "@fix('rewrite', 'exact')\ndef fixed(x):\n    '''Why.'''\n    return breaks(x)\n",
            "fixed: compiled with fullgraph=True it raises",
        ),
        ("def breaks(x):\n    return x + 1 if x.sum() > 0 else x\n", "neither a fix nor"),
    ],
    ids=["no break", "another break", "wrong result", "still breaks", "no fix"],
)
def test_verification_finds_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, complaint: str
) -> None:
    import importlib
    import sys

    from fullgraph.catalog import entries
    from fullgraph.catalog.verify import verify

    write_entry(tmp_path, body)
    monkeypatch.setattr(entries, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "fullgraph.catalog.entries.gb0170", raising=False)
    importlib.invalidate_caches()
    try:
        failures = verify("GB0170").failures
    finally:
        sys.modules.pop("fullgraph.catalog.entries.gb0170", None)
    assert any(complaint in failure for failure in failures), failures


def test_check_records_verdicts(warm_cli: Cli, tmp_path: Path) -> None:
    release = base_of(str(torch_version()))
    (tmp_path / f"{release}.json").write_text('{"GB9998": {"outcome": "holds"}}')
    result = warm_cli("catalog", "check", "gb0170", "GB0059_open", "--record", str(tmp_path))
    assert result.returncode == 0, result.stderr
    # A verdict on an example that no longer exists is removed.
    found = read_verdicts(tmp_path / f"{release}.json")
    assert found == {"GB0059_open": Verdict("holds"), "GB0170": Verdict("holds")}


def test_the_command_runs_an_example(warm_cli: Cli) -> None:
    result = warm_cli("catalog", "run", "gb0170")
    assert result.returncode == 0, result.stderr
    assert "if scores.sum() > 0:" in result.stdout
    assert "1 root cause, 1 break site" in result.stdout
    assert "torch.where" in result.stdout
    assert "verified: GB0170 breaks, and its" in result.stdout


def test_an_unknown_example_is_a_clear_error(cli: Cli) -> None:
    result = cli("catalog", "run", "GB9999")
    assert result.returncode == 2
    assert result.stderr.startswith("fullgraph: the catalog has no example for GB9999")
