"""Root causes: the breaks that Dynamo chains to one are counted below it."""

from __future__ import annotations

from fullgraph.analysis import analyze
from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    Compile,
    Event,
    Frame,
    Reason,
    SourceLine,
    Stack,
)
from fullgraph.model.session import Header, Session

CODE = Code("/home/model.py", 1, "forward")
STACK = Stack((Frame("/home/model.py", 3, "forward", column=9),))


def test_a_chained_break_is_counted_once_per_occurrence() -> None:
    reasons = (Reason("Some type"), Reason("A chained type", context="differs"))
    events = [
        event
        for compile_id in ("0/0", "0/1")
        for event in (Break(compile_id, CODE, reasons, STACK), Compile(compile_id, CODE))
    ]
    report = analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), tuple(events))])
    [cause] = report.causes
    [cascade] = cause.cascades
    assert (cascade.type, cascade.occurrences) == ("A chained type", 2)


def test_the_advice_is_about_the_call_at_the_break() -> None:
    text = "    return x + time.time() + zlib.crc32(b'x')"
    reasons = (Reason("Attempted to call function marked as skipped"),)
    events: list[Event] = []
    for number, call in enumerate(("time.time", "zlib.crc32")):
        frame = Frame("/home/model.py", 3, "forward", column=text.index(call) + 1)
        stack = Stack((frame,), excerpt=(SourceLine(3, text),))
        compile_id = f"{number}/0"
        events += [Break(compile_id, CODE, reasons, stack), Compile(compile_id, CODE)]
    report = analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), tuple(events))])
    clock, checksum = sorted(report.causes, key=lambda cause: cause.column or 0)
    assert "clock" in clock.advice
    assert "checksum" in checksum.advice
