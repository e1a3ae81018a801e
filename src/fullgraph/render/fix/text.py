"""A fix report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.report.model import Fix, FixReport, RemainingBreak, Verification
from fullgraph.model.fix_kinds import Safety
from fullgraph.model.owners import this_process
from fullgraph.terminal import Terminal, clean

_SAFETY: dict[Safety, str] = {
    "exact": "exact",
    "specialized": "exact; a new value recompiles",
    "equal": "equal up to rounding",
    "reordered": "output is printed after the graph has run",
    "dropped": "output is dropped in compiled code",
    "narrower": "for these inputs only",
}
_INDENT = "     "


def render(
    report: FixReport, *, width: int = 100, color: bool = False, command: str = "", **_: object
) -> str:
    """Return a report; `command` is the program as the user has typed it, for what to do next."""
    lines = _lines(report, Terminal(width, color), command)
    return "".join(f"{line}\n" for line in lines)


def _lines(report: FixReport, terminal: Terminal, command: str) -> Iterator[str]:
    yield from _headline(report, terminal)
    for number, fix in enumerate(report.fixes, 1):
        yield from _fix(number, fix, terminal)
    for number, remaining in enumerate(report.remaining, len(report.fixes) + 1):
        yield from _remaining(number, remaining, terminal)
    yield from _guards(report, terminal)
    yield from _end(report, terminal, command)


def _headline(report: FixReport, terminal: Terminal) -> Iterator[str]:
    summary = report.summary
    causes = summary.causes.before
    parts = [f"{causes} root {'cause' if causes == 1 else 'causes'}"]
    if causes:
        fixed = max(causes - summary.causes.after, 0)
        parts += [f"{fixed} fixed", f"{len(report.remaining)} remaining"]
    graphs, frames = summary.graphs, summary.skipped_frames
    numbers = f"graphs {graphs.before} → {graphs.after}"
    if frames.before or frames.after:
        numbers += f", skipped frames {frames.before} → {frames.after}"
    if any(fix.kind == "mitigate" for fix in report.fixes):
        numbers += f", operations in graphs {summary.ops.before} → {summary.ops.after}"
    yield terminal.style(f"fullgraph  {' · '.join(parts)}    {numbers}", "bold")


def _fix(number: int, fix: Fix, terminal: Terminal) -> Iterator[str]:
    where = f"{_path(fix.location.file)}:{fix.location.line}"
    yield ""
    yield terminal.style(f"{number:>3}  {where}  {fix.title}", "bold")
    facts = f"{fix.fixer}: {_SAFETY[fix.safety]}"
    if fix.diff:
        untested = f"; no call runs {_line_numbers(fix.unreached)}"
        facts += untested if fix.unreached else "; every changed line was run"
    if fix.settings:
        facts += "; add this before anything is compiled:"
    yield from terminal.wrapped(facts, _INDENT, _INDENT)
    for line in fix.settings:
        yield f"{_INDENT}{terminal.style(f'+ {line}', 'green')}"
    for line in fix.diff.splitlines()[2:]:
        style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
        yield f"{_INDENT}{terminal.style(clean(line), style)}"


def _line_numbers(numbers: tuple[int, ...]) -> str:
    word = "line" if len(numbers) == 1 else "lines"
    return f"{word} {', '.join(map(str, numbers))}"


def _remaining(number: int, remaining: RemainingBreak, terminal: Terminal) -> Iterator[str]:
    location = remaining.location
    name = f"{location.id}  {location.type}" if location.id else location.type
    where = f"{_path(location.file)}:{location.line}"
    yield ""
    yield from terminal.wrapped(f"remaining: {where}  {name}", f"{number:>3}  ", _INDENT)
    reasons = [
        f"{each.fixer}: not applied, {each.reason} (line {each.line})"
        if each.fixer
        else each.reason
        for each in remaining.refusals
    ]
    reasons += [f"{each.fixer}: tried {each.title}: {each.reason}" for each in remaining.rejected]
    for reason in reasons or ["no fixer knows this pattern"]:
        yield from terminal.wrapped(reason, _INDENT, _INDENT + "  ")


def _guards(report: FixReport, terminal: Terminal) -> Iterator[str]:
    if not report.guards:
        return
    cost = sum(guard.microseconds for guard in report.guards)
    yield ""
    yield f"{len(report.guards)} value guards, together {cost:.0f} µs per call:"
    for guard in report.guards:
        where = f"{_path(guard.file)}:{guard.line}"
        yield terminal.clipped(f"{_INDENT}{where}  {guard.input} is {clean(guard.value)}")
    failed = sum(bool(guard.failed) for guard in report.guards)
    if failed:
        yield f"{_INDENT}a new value recompiles; {failed} of these guards failed on varied inputs"


def _end(report: FixReport, terminal: Terminal, command: str) -> Iterator[str]:
    yield ""
    if not report.fixes:
        yield "nothing to fix" if not report.remaining else "no working fix found"
    else:
        line = verification_line(report.verification)
        yield from terminal.wrapped(f"verification: {line}", "", "  ")
        if command and any(fix.kind != "guard" for fix in report.fixes):
            yield f"apply with: fullgraph fix --apply {command}"
        if command:
            yield f"run with these fixes, without changing files: fullgraph run --fix {command}"
    if report.out_of_time:
        yield "time limit reached before all candidates were tried; raise it with --time"


def verification_line(facts: Verification) -> str:
    """Return the facts of a verification in one line."""
    if facts.problems:
        return f"failed: {facts.problems[0]}"
    parts = [
        f"{facts.recorded_calls} recorded and {facts.varied_calls} varied calls, outputs equal "
        f"(largest difference {facts.largest_difference:.2g})"
    ]
    if facts.raising_calls:
        parts.append(f"{facts.raising_calls} of them raise as before")
    if facts.gradients:
        parts.append("gradients equal")
    if facts.zero_gradients:
        parts.append(f"{facts.zero_gradients} of them zero instead of None with aot_eager")
    if facts.varied_sites:
        word = "site" if facts.varied_sites == 1 else "sites"
        parts.append(f"{facts.varied_sites} break {word} with varied inputs")
    parts.append("no new recompilation" if not facts.recompilations else "repeated calls recompile")
    if facts.speedup is not None:
        parts.append(_speed(facts.speedup))
    return ", ".join(parts)


def _speed(speedup: float) -> str:
    if speedup >= 1:
        return f"{speedup:.1f}x faster"
    return f"SLOWER: a call takes {1 / speedup:.2f} times as long"


def _path(file: str) -> str:
    return clean(this_process().display_path(file))
