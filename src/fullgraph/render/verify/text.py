"""The verdict on a change for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullgraph.fix.verify.report import Evidence, Unexercised, VerifyReport
from fullgraph.render._lines import joined
from fullgraph.render._strings import printable_strings
from fullgraph.terminal import Terminal, one_line

_COLORS = {"verified": "green", "unverified": "yellow", "different": "red", "refused": "red"}
_MEANING = {
    "verified": "the changed program does the same",
    "unverified": "not everything that changes could be tested",
    "different": "the changed program does something else",
    "refused": "nothing of the change has run",
}
_GRADES = {
    "safe": "safe: no tested call differs, and every changed line was run",
    "assumes": "assumes: the same as long as this holds",
    "changes": "changes: the same but for this",
}
_MOST = 8
_INDENT = "  "


def render(report: VerifyReport, *, width: int = 100, color: bool = False, **_: object) -> str:
    """Return the verdict, what it rests on, and what it leaves open."""
    return joined(_lines(printable_strings(report), Terminal(width, color)))


def _lines(report: VerifyReport, terminal: Terminal) -> Iterator[str]:
    headline = f"fullgraph  {report.verdict}: {_MEANING[report.verdict]}"
    yield terminal.style(terminal.style(headline, "bold"), _COLORS[report.verdict])
    yield ""
    if report.grade is not None:
        yield from terminal.wrapped(_GRADES[report.grade], _INDENT, _INDENT)
    yield from _list("changes", report.changes, terminal)
    yield from _list("assumes", report.assumptions, terminal)
    yield from _list(
        "refused", (f"{each.file}:{each.line}  {each.why}" for each in report.refused), terminal
    )
    differences = report.evidence.differences
    yield from _list("differs", (f"{each.call}: {each.what}" for each in differences), terminal)
    yield from _list("not run", map(_unexercised, report.unexercised), terminal)
    if report.problem:
        yield from _list("reason", [report.problem], terminal)
    if report.ignored:
        yield from _list("left out", [f"documentation: {', '.join(report.ignored)}"], terminal)
    yield from _facts(report, terminal)


def _list(label: str, items: Iterable[str], terminal: Terminal) -> Iterator[str]:
    every = list(items)
    for item in every[:_MOST]:
        yield from terminal.wrapped(f"{label}: {one_line(item)}", _INDENT, _INDENT * 2)
    if len(every) > _MOST:
        yield f"{_INDENT}and {len(every) - _MOST} more (--format json)"


def _unexercised(each: Unexercised) -> str:
    text = " of the program as it was" if each.is_old else ""
    return f"{each.file}:{each.line}{text}  {each.what}"


def _facts(report: VerifyReport, terminal: Terminal) -> Iterator[str]:
    if report.breaks is None or report.graphs is None:
        return
    breaks, graphs = report.breaks, report.graphs
    yield ""
    yield from terminal.wrapped(_ran(report.evidence), "verification: ", _INDENT)
    yield f"break sites {breaks.before} → {breaks.after}, graphs {graphs.before} → {graphs.after}"
    where = f"confined by {report.confinement}" if report.confinement else "unconfined"
    again = "; the whole changed program was run" if report.reran else ""
    yield f"the changed code ran {where}{again}"


def _ran(evidence: Evidence) -> str:
    backends = ", ".join(evidence.backends)
    text = f"{evidence.calls} recorded and {evidence.varied} varied calls with {backends}"
    if evidence.probes:
        text += (
            f", {evidence.probes} probes of other properties, "
            f"{evidence.compiled_probes} of them compiled"
        )
    if evidence.largest_difference:
        text += f", largest difference {evidence.largest_difference:.3g}"
    return text
