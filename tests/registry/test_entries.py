from __future__ import annotations

import copy
import zlib

import pytest
from msgspec.structs import replace

from fullgraph.errors import RegistryError
from fullgraph.registry.entries import (
    CallSite,
    Snapshot,
    checksum_of,
    identifier_in,
    read_registry,
    wording_checksum,
)
from tests.registry.fake_torch import ENTRIES, registry_bytes


def changed(identifier: str, number: int, **fields: object) -> bytes:
    entries = copy.deepcopy(ENTRIES)
    wording = entries[identifier][number]
    for name, value in fields.items():
        if value is None:
            del wording[name]
        else:
            wording[name] = value
    return registry_bytes(entries)


def test_reads_every_wording_newest_first() -> None:
    entries = read_registry(registry_bytes(), "here")
    assert list(entries) == ["GB0001", "GB0002", "GB0003"]
    assert [wording.type for wording in entries["GB0002"]] == ["Lost a sock", "Lost one sock"]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"<html>", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "not a registry"),
        (b"{}", "no entries"),
        (b'{"GB0001": []}', "GB0001 is not a list of wordings"),
        (b'{"GB0001": {}}', "GB0001 is not a list of wordings"),
        (b'{"GB0001": ["x"]}', "GB0001 has a wording that is not an object"),
        (registry_bytes({"nonsense": ENTRIES["GB0001"]}), "'nonsense' is not an id"),
        (changed("GB0002", 1, Explanation=None), "GB0002 lacks the field Explanation"),
        (changed("GB0002", 0, Severity="high"), "GB0002 has an unknown field, Severity"),
        (changed("GB0001", 0, Context=7), "GB0001 has a Context that is not a string"),
        (changed("GB0001", 0, Hints="x"), "GB0001 has Hints that are not a list"),
        (changed("GB0001", 0, Hints=[1]), "GB0001 has Hints that are not a list"),
        (registry_bytes()[:-1] + b"," + registry_bytes()[1:], "GB0001 occurs twice"),
        (
            registry_bytes().replace(b'"Gb_type": "R', b'"Gb_type": "", "Gb_type": "R'),
            "Gb_type twice",
        ),
        (changed("GB0002", 0, Gb_type=[]), "GB0002 has a Gb_type that is not a string"),
        (changed("GB0003", 0, Explanation=None, Context=None), "lacks the field Context"),
        (registry_bytes({"GB001": ENTRIES["GB0001"]}), "'GB001' is not an id"),
        (registry_bytes({"GB0001": "x"}), "GB0001 is not a list of wordings"),
    ],
)
def test_says_what_is_wrong_and_where(data: bytes, complaint: str) -> None:
    with pytest.raises(RegistryError, match="here: ") as caught:
        read_registry(data, "here")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_checksum_differs_with_every_field() -> None:
    (wording,) = read_registry(registry_bytes(), "here")["GB0001"]
    others = (
        replace(wording, type="x"),
        replace(wording, context="x"),
        replace(wording, explanation="x"),
        replace(wording, hints=()),
    )
    assert len({wording_checksum(each) for each in (wording, *others)}) == 5
    # The same on every machine: facts of releases have it.
    assert checksum_of(b"registry") == "cda81d0a"
    assert checksum_of(b"\x00" * 7 + b"i") == f"{zlib.crc32(bytes(7) + b'i'):08x}"


def test_a_registry_without_source_code_knows_no_live_entries() -> None:
    snapshot = Snapshot("2.9.0", {}, {"GB0001": ()})
    assert [snapshot.is_live(each) for each in ("GB0001", "GB0002")] == [True, False]
    assert replace(snapshot, sites=None).is_live("GB0001") is None


def test_text_that_looks_like_fields_is_no_unknown_field() -> None:
    data = changed("GB0001", 0, Explanation='a text with "names": in it, "twice": here')
    assert read_registry(data, "here")["GB0001"][0].explanation.startswith("a text")


def test_a_newer_torch_may_add_a_field_to_its_own_registry() -> None:
    data = changed("GB0002", 0, Severity="high")
    assert len(read_registry(data, "here", unknown_fields=True)) == 3


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("GB0124", "GB0124"),
        (" gb0124\n", "GB0124"),
        ("124", "GB0124"),
        ("gb7", "GB0007"),
        ("https://example.org/gb/gb0124.html", "GB0124"),
        ("https://example.org/gb/gb0124.html#top", "GB0124"),
        ("https://example.org/gb/gb0124.htm?from=log", "GB0124"),
        ("gb/gb01240", "GB1240"),
        ("1234567", None),
        ("gb/gb012", None),
        ("https://example.org/gb0124.pdf", None),
        ("see GB0124", None),
        ("Lost a sock", None),
        ("", None),
    ],
)
def test_identifier_in(text: str, identifier: str | None) -> None:
    assert identifier_in(text) == identifier


def test_a_call_site_links_to_its_line_in_its_release() -> None:
    site = CallSite("torch/_dynamo/x.py", 12, "f")
    assert site.link("2.13.0").endswith("/pytorch/blob/v2.13.0/torch/_dynamo/x.py#L12")
