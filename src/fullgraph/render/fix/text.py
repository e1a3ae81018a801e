"""A fix report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.report.build import Fix, FixReport, Left, Proof, shown_path
from fullgraph.terminal import Terminal, clean

_SAFETY = {
    "exact": "exact",
    "reordered": "lines that it prints or logs come later",
    "dropped": "lines that it prints or logs are dropped while compiled",
    "specialised": "exact; a new value compiles once more",
}
_INDENT = "     "


def lines_of(report: FixReport, terminal: Terminal, command: str) -> Iterator[str]:
    yield from _headline(report, terminal)
    for number, fix in enumerate(report.fixes, 1):
        yield from _fix(number, fix, terminal)
    for number, left in enumerate(report.left, len(report.fixes) + 1):
        yield from _left(number, left, terminal)
    yield from _guards(report, terminal)
    yield from _end(report, terminal, command)


def _headline(report: FixReport, terminal: Terminal) -> Iterator[str]:
    summary = report.summary
    causes, left = summary.causes.before, len(report.left)
    parts = [f"{causes} {'cause' if causes == 1 else 'causes'}"]
    if causes:
        gone = max(causes - summary.causes.after, 0)
        parts += [f"{gone} fixed", f"{left} left"]
    graphs, frames = summary.graphs, summary.eager_frames
    numbers = f"graphs {graphs.before} → {graphs.after}"
    if frames.before or frames.after:
        numbers += f", frames in eager {frames.before} → {frames.after}"
    if any(fix.kind == "ease" for fix in report.fixes):
        numbers += f", operations in graphs {summary.ops.before} → {summary.ops.after}"
    yield terminal.style(f"fullgraph  {' · '.join(parts)}    {numbers}", "bold")


def _fix(number: int, fix: Fix, terminal: Terminal) -> Iterator[str]:
    where = f"{shown_path(fix.place.file)}:{fix.place.line}"
    yield ""
    yield terminal.style(f"{number:>3}  {where}  {fix.title}", "bold")
    facts = _SAFETY[fix.safety]
    if fix.diff:
        facts += ", every changed line was reached"
        if fix.unreached:
            facts = f"{_SAFETY[fix.safety]}; not reached: {_lines(fix.unreached)}"
    if fix.settings:
        facts += "; add it before anything is compiled:"
    yield from terminal.wrapped(facts, _INDENT, _INDENT)
    for line in fix.settings:
        yield f"{_INDENT}{terminal.style(f'+ {line}', 'green')}"
    for line in fix.diff.splitlines()[2:]:
        style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
        yield f"{_INDENT}{terminal.style(clean(line), style)}"


def _lines(numbers: tuple[int, ...]) -> str:
    word = "line" if len(numbers) == 1 else "lines"
    return f"{word} {', '.join(map(str, numbers))}"


def _left(number: int, left: Left, terminal: Terminal) -> Iterator[str]:
    place = left.place
    name = f"{place.id}  {place.type}" if place.id else place.type
    yield ""
    yield from terminal.wrapped(
        f"left: {shown_path(place.file)}:{place.line}  {name}", f"{number:>3}  ", _INDENT
    )
    if not left.tried:
        yield f"{_INDENT}no fixer knows this pattern"
    for attempt in left.tried:
        yield from terminal.wrapped(
            f"tried {attempt.title}: {attempt.why}", _INDENT, _INDENT + "  "
        )


def _guards(report: FixReport, terminal: Terminal) -> Iterator[str]:
    if report.guards:
        cost = sum(guard.microseconds for guard in report.guards)
        yield ""
        yield f"{len(report.guards)} value guards, together {cost:.0f} µs a call:"
        for guard in report.guards:
            where = f"{shown_path(guard.file)}:{guard.line}"
            yield terminal.clipped(f"{_INDENT}{where}  {guard.input} is {clean(guard.value)}")
        failed = sum(bool(guard.failed) for guard in report.guards)
        if failed:
            yield f"{_INDENT}other values compile once more: so did {failed} of these when tried"


def _end(report: FixReport, terminal: Terminal, command: str) -> Iterator[str]:
    if not report.fixes:
        yield ""
        yield "nothing to fix" if not report.left else "nothing that works was found"
    else:
        yield ""
        yield from terminal.wrapped(f"proof: {proof_line(report.proof)}", "", "  ")
        if any(fix.kind != "guard" for fix in report.fixes):
            yield f"apply with: fullgraph fix --apply {command}"
        yield f"run it mended, without touching a file: fullgraph run --mend {command}"
    if report.out_of_time:
        yield "the time was over before everything was tried: raise it with --time"


def proof_line(proof: Proof) -> str:
    if proof.problems:
        return f"failed: {proof.problems[0]}"
    parts = [
        f"{proof.recorded_calls} recorded and {proof.varied_calls} varied calls, outputs equal "
        f"(largest difference {proof.largest_difference:.2g})"
    ]
    if proof.raising_calls:
        parts.append(f"{proof.raising_calls} of them raise as before")
    if proof.gradients:
        parts.append("gradients equal")
    if proof.zero_gradients:
        parts.append(f"{proof.zero_gradients} of them zero where there was none (aot_eager)")
    if proof.varied_sites:
        word = "break" if proof.varied_sites == 1 else "breaks"
        parts.append(f"{proof.varied_sites} {word} with other inputs")
    parts.append("no new recompilation" if not proof.recompilations else "it compiles again")
    if proof.speedup is not None:
        parts.append(_speed(proof.speedup))
    return ", ".join(parts)


def _speed(speedup: float) -> str:
    if speedup >= 1:
        return f"{speedup:.1f}x faster"
    return f"SLOWER: a call takes {1 / speedup:.2f} times as long"
