"""What a registry lacks, and how two registries differ: every field of both results."""

from __future__ import annotations

from msgspec.structs import replace

from fullgraph.registry.audit import AuditedEntry, CallWithoutEntry, audit
from fullgraph.registry.diff import Reworded, difference
from fullgraph.registry.entries import CallSite, Snapshot, UnmappedCall, Wording
from fullgraph.registry.history import EntryHistories, facts_of

SITE = CallSite("torch/_dynamo/x.py", 3, "f")
PLAIN = Wording("Cannot juggle", "juggle {thing}", "Nobody taught it.", ("Put it down.",))
SILENT = Wording("Lost a sock", "", "", ())
VARIABLES = Wording("Lost {name}", "", "msg", ("str(e)", "Look."))
OLD_SOCK = Wording("Lost a sock", "", "It is gone.", ("Look.",))
SNAPSHOT = Snapshot(
    "2.9.0",
    {
        "GB0001": (PLAIN,),
        "GB0003": (VARIABLES, OLD_SOCK),
        "GB0002": (SILENT, OLD_SOCK),
        "GB0004": (OLD_SOCK,),
    },
    {"GB0001": (SITE,), "GB0003": (SITE,)},
    (UnmappedCall("Unheard of", SITE),),
)


def test_an_audit_names_every_gap_of_every_entry() -> None:
    found = audit(SNAPSHOT)
    sock, name = "Lost a sock", "Lost ‹name›"
    assert (found.release, found.entries, found.live) == ("2.9.0", 4, 2)
    assert found.without_hints == (AuditedEntry("GB0002", sock),)
    assert found.unevaluated == (AuditedEntry("GB0003", name, "explanation, hint"),)
    assert found.without_explanation == (AuditedEntry("GB0002", sock),)
    assert found.without_call_site == (AuditedEntry("GB0002", sock), AuditedEntry("GB0004", sock))
    assert found.calls_without_entry == (
        CallWithoutEntry("Unheard of", SITE.file, 3, "f", SITE.link("2.9.0")),
    )
    # Two wordings of one entry do not make its type a shared one.
    assert found.shared_types == (AuditedEntry("GB0002", sock, "also GB0003, GB0004"),)


def test_without_source_code_nothing_is_said_about_calls() -> None:
    found = audit(replace(SNAPSHOT, sites=None))
    assert (found.live, found.without_call_site, found.calls_without_entry) == (None, None, None)
    assert found.without_hints == audit(SNAPSHOT).without_hints


def test_a_difference_names_what_is_new_reworded_retired_and_revived() -> None:
    reworded = replace(PLAIN, type="Cannot juggle {thing}", context="", hints=())
    later = Snapshot(
        "2.10.0",
        {
            "GB0001": (reworded, PLAIN),
            "GB0002": SNAPSHOT.entries["GB0002"],
            "GB0004": SNAPSHOT.entries["GB0004"],
            "GB0005": (VARIABLES,),
        },
        {"GB0002": (SITE,), "GB0005": (SITE, SITE)},
    )
    histories = EntryHistories(facts_of(each) for each in (SNAPSHOT, later))
    found = difference(SNAPSHOT, later, histories)
    assert (found.earlier, found.later) == ("2.9.0", "2.10.0")
    assert found.reworded == (
        Reworded("GB0001", "Cannot juggle ‹thing›", "Cannot juggle", ("type", "context", "hints")),
    )
    (new,) = found.new
    assert (new.id, new.type, new.call_sites, new.hints) == ("GB0005", "Lost ‹name›", 2, 2)
    assert found.retired is not None
    # The text of an entry that was removed comes from the earlier registry.
    assert [(row.id, row.type, row.live) for row in found.retired] == [
        ("GB0001", "Cannot juggle ‹thing›", False),
        ("GB0003", "Lost ‹name›", True),
    ]
    assert found.revived is not None
    assert [row.id for row in found.revived] == ["GB0002"]


def test_retired_entries_are_unknown_without_source_code_of_both() -> None:
    histories = EntryHistories([])
    bare = replace(SNAPSHOT, sites=None)
    for earlier, later in ((bare, SNAPSHOT), (SNAPSHOT, bare)):
        found = difference(earlier, later, histories)
        assert (found.new, found.reworded, found.retired, found.revived) == ((), (), None, None)
    same = difference(SNAPSHOT, SNAPSHOT, histories)
    assert (same.retired, same.revived) == ((), ())
