from __future__ import annotations

import pytest

from fullgraph.installed_torch import torch_folder
from fullgraph.registry.entries import CallSite, SourceText, Wording, read_registry
from fullgraph.registry.history import known_facts
from fullgraph.registry.liveness import Call, calls_in, map_calls, shared_hints, texts_of
from fullgraph.registry.sources import installed_snapshot, snapshot_of_folder
from tests.registry.fake_torch import HINTS, SOURCE, registry_bytes

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
        ('_unimplemented_v2("a", "b")', ["a"]),
        ('reunimplemented("a")', []),
        ("unimplemented()", []),
        ('def f():\n    k = "a"\n    def g():\n        k = "b"\n    unimplemented(gb_type=k)',
         ["a"]),
        ('k = "a"\nclass C:\n    k = "b"\n    def f(self):\n        unimplemented(gb_type=self.k)',
         ["b"]),
        ('class C:\n    k: str = "a"\n    def f(cls):\n        unimplemented(gb_type=cls.k)',
         ["a"]),
        ('class C:\n    k = "a"\ndef f(x):\n    unimplemented(gb_type=x.k)', ["{x.k}"]),
        ('def f(k):\n    try:\n        k = "a"\n    except E:\n        k = "b"\n'
         '    unimplemented(gb_type=k)', ["a", "b"]),
        ('def f(a, /, b, *, c):\n    unimplemented(gb_type=f"{a}{b}{c}")\n'
         'f("1", "2", c="3")\nx.f("4", b="5", c="6")',
         ["123", "126", "153", "156", "423", "426", "453", "456"]),
        ('def f(k):\n    k2 = k or "x"\n    unimplemented(gb_type=k2)\nf("a")', ["{k or 'x'}"]),
        # Too many values.
        ('def f(k):\n    unimplemented(gb_type=f"{k}{k}")\n'
         + "".join(f'f("{n}")\n' for n in range(5)), ["{f'{k}{k}'}"]),
        ('match x:\n    case 1:\n        k = "a"\nunimplemented(gb_type=k)', ["{k}"]),
        ('def f():\n    match x:\n        case 1:\n            k = "a"\n'
         '    unimplemented(gb_type=k)', ["a"]),
    ],
)  # fmt: skip
def test_follows_a_type_to_what_it_can_be(source: str, types: list[str]) -> None:
    assert sorted(types_of(source)) == sorted(types)


def test_a_call_knows_its_place_and_all_texts_that_it_can_show() -> None:
    source = (
        "class C:\n"
        "    async def f(self):\n"
        "        hints = ['One.']\n"
        "        hints += ['Two.', *SHARED]\n"
        "        hints.extend(['Three.'])\n"
        "        other.append('Not this.')\n"
        "        if x:\n"
        "            hints.append('Four.')\n"
        "        why = 'a' if x else 'b'\n"
        "        unimplemented(gb_type='T', explanation=f'It is {why}.', hints=hints)\n"
        "    def g():\n"
        "        unimplemented(gb_type='U', hints=[*h.SHARED, 'Five.'] + MORE)\n"
        "        unimplemented(gb_type='V', hints=['x'] if a else ['y'])\n"
        "unimplemented(gb_type='W', hints=unknown())\n"
    )
    shared = shared_hints("SHARED = ['From all.', 'Of us.']\nNAME = 'none'\nMORE: L = ['More.']\n")
    assert shared == {"SHARED": ("From all.", "Of us."), "MORE": ("More.",)}
    one, two, three, four = calls_in(source, "x.py", shared)
    assert [call.site for call in (one, two, three, four)] == [
        CallSite("x.py", 10, "C.f"), CallSite("x.py", 12, "C.g"),
        CallSite("x.py", 13, "C.g"), CallSite("x.py", 14, "<module>"),
    ]  # fmt: skip
    assert one.explanations == ("It is a.", "It is b.")
    assert one.hints == ("One.", "Two.", "From all.", "Of us.", "Three.", "Four.")
    assert (two.explanations, two.hints) == ((), ("From all.", "Of us.", "Five.", "More."))
    assert (three.hints, four.hints) == (("x", "y"), ("{unknown()}",))
    assert (one.types, one.written) == (("T",), "'T'")


def wording(type_: str, explanation: str = "E.") -> Wording:
    return Wording(type_, "", explanation, ("A hint.",))


@pytest.mark.parametrize(
    ("type_", "explanation", "found"),
    [
        ("First", "", ["GB0001"]),
        ("Old first", "", ["GB0001"]),
        # Another entry has this type now, and an earlier one has no say.
        ("Second", "", ["GB0002"]),
        ("call of f()", "", ["GB0003"]),
        ("call of ", "", []),
        ("a call of f()", "", []),
        ("old f() slot", "", ["GB0003"]),
        # Several entries: the explanation decides, or all are meant.
        ("Shared", "One.", ["GB0004"]),
        ("Shared", "Two.", ["GB0005"]),
        ("Shared", "Three.", ["GB0004", "GB0005"]),
    ],
)
def test_a_type_belongs_to_the_entries_that_have_it(
    type_: str, explanation: str, found: list[str]
) -> None:
    entries = {
        "GB0001": (wording("First"), wording("Old first"), wording("Second")),
        "GB0002": (wording("Second"),),
        "GB0003": (wording("call of {fn}"), wording("old {x} slot")),
        "GB0004": (wording("Shared", "One."),),
        "GB0005": (wording("Shared", "Two."),),
        "GB0006": (wording("{msg}"),),
    }
    call = Call(CallSite("x.py", 1, "f"), (type_,), "written", (explanation,), ())
    sites, unmapped = map_calls([call, call], entries)
    assert sites == dict.fromkeys(found, (call.site,))
    assert [(each.type, each.site) for each in unmapped] == (
        [] if found else [(type_, call.site)] * 2
    )


def test_the_name_of_a_variable_finds_the_entry_that_has_only_the_name() -> None:
    entries = {"GB0001": (wording("_gb_type"),)}
    call = Call(CallSite("x.py", 1, "f"), ("one {x}", "two"), "_gb_type", (), ())
    assert map_calls([call], entries) == ({"GB0001": (call.site,)}, ())
    ((unknown,)) = map_calls([call._replace(written="other")], entries)[1]
    assert unknown.type == "one ‹x› or two"


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
