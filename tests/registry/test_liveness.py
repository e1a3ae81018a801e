from __future__ import annotations

import pytest
from fake_torch import HINTS, SOURCE, registry_bytes

from fullgraph.installed_torch import torch_folder
from fullgraph.registry.entries import CallSite, SourceText, read_registry
from fullgraph.registry.history import known_facts
from fullgraph.registry.liveness import calls_in, map_calls, shared_hints, texts_of
from fullgraph.registry.sources import installed_snapshot, snapshot_of_folder

FILE = "torch/_dynamo/variables/fake_torch.py"


def types_of(source: str) -> list[str]:
    return [type_ for call in calls_in(source, "x.py") for type_ in call.types]


def test_maps_calls_to_entries_and_lists_the_rest() -> None:
    entries = read_registry(registry_bytes(), "here")
    sites, unmapped = map_calls(calls_in(SOURCE, FILE), entries)
    assert sites == {
        "GB0001": (CallSite(FILE, 5, "juggle"),),
        "GB0002": (CallSite(FILE, 20, "Drawer.find"),),
    }
    assert [(call.type, call.site.function) for call in unmapped] == [
        ("Nobody registered this", "surprise")
    ]


def test_reads_texts_that_the_registry_lacks() -> None:
    entries = read_registry(registry_bytes(), "here")
    calls = calls_in(SOURCE, FILE, shared_hints(HINTS))
    sites, _ = map_calls(calls, entries)
    assert texts_of(calls, sites, entries) == {
        "GB0002": SourceText(
            explanations=("The sock ‹sock› is in none of the drawers.",),
            hints=("Search in the other drawer.", "Look for something red."),
        )
    }


@pytest.mark.parametrize(
    ("source", "types"),
    [
        ('unimplemented(gb_type="a" "b")', ["ab"]),
        ('exc.unimplemented_v2(gb_type="a", context="")', ["a"]),
        ('whatever_it_becomes(gb_type="a")', ["a"]),
        ('unimplemented("an old message")', ["an old message"]),
        ('unimplemented_with_warning(e, code, "late")', ["late"]),
        ('unimplemented(gb_type="a" if x else "b")', ["a", "b"]),
        ('KIND = "a"\ndef f():\n    unimplemented(gb_type=KIND)', ["a"]),
        ('def f():\n    k = "a"\n    if x: k = "b"\n    unimplemented(gb_type=k)', ["b", "a"]),
        ('def f():\n    k = "a"\n    def g():\n        unimplemented(gb_type=k)', ["a"]),
        (
            'def helper(name):\n    unimplemented(gb_type=f"no {name}()")\n'
            'helper("x")\nhelper(name="y")',
            ["no x()", "no y()"],
        ),
        ('def f(k):\n    unimplemented(gb_type=f"no {k.name}")', ["no {k.name}"]),
        ('unimplemented(gb_type="a" + "b")', ["ab"]),
        ('def unimplemented(gb_type):\n    raise Unsupported(gb_type=gb_type)', []),
        ('def f():\n    k: str = k2\n    k2 = k\n    unimplemented(gb_type=k)', ["{k}"]),
        ("print('unimplemented')", []),
    ],
)  # fmt: skip
def test_follows_a_type_to_what_it_can_be(source: str, types: list[str]) -> None:
    assert sorted(types_of(source)) == sorted(types)


def test_every_call_of_the_installed_torch_is_mapped_or_listed() -> None:
    torch = torch_folder()
    assert torch is not None
    snapshot = snapshot_of_folder(torch, "installed", "installed")
    assert snapshot.sites is not None
    calls = {
        call.site
        for path in (torch / "_dynamo").rglob("*.py")
        for call in calls_in(path.read_text(), path.relative_to(torch.parent).as_posix())
    }
    mapped = {site for sites in snapshot.sites.values() for site in sites}
    listed = {call.site for call in snapshot.unmapped}
    assert calls == mapped | listed
    assert len(calls) > 400
    # A gb_type that cannot be determined would hide an entry.
    assert not [call for call in snapshot.unmapped if not call.type.strip()]


def test_the_facts_about_the_installed_torch_are_what_its_source_says() -> None:
    installed = installed_snapshot()
    torch = torch_folder()
    assert installed is not None
    assert torch is not None
    if installed.release not in known_facts():
        pytest.skip(f"there are no facts about torch {installed.release}")
    read = snapshot_of_folder(torch, installed.release, "installed")
    assert installed.sites == read.sites
    assert {call.site for call in installed.unmapped} == {call.site for call in read.unmapped}
