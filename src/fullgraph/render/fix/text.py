"""A fix report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.report.model import BreakLocation, Fix, FixReport, RemainingBreak, Verification
from fullgraph.model.grades import Grade
from fullgraph.model.owners import this_process
from fullgraph.render._lines import joined
from fullgraph.render._strings import printable_strings
from fullgraph.render.fix._cost import cost_lines
from fullgraph.terminal import Terminal, clean, one_line

# How many assumptions of one fix a terminal shows.
_MOST_ASSUMPTIONS = 5
_INDENT = "     "

_UNKNOWN = "no fixer knows this pattern"


def render(
    report: FixReport,
    *,
    width: int = 100,
    color: bool = False,
    command: str = "",
    only_measured: bool = False,
    **_: object,
) -> str:
    """Return a report; `command` is the program as the user has typed it, for what to do next.

    With `only_measured`, return only what was measured after the fixes were shown.
    """
    report, terminal = printable_strings(report), Terminal(width, color)
    shown = [] if only_measured else [*_lines(report, terminal, command)]
    return joined([*shown, *_measured(report, terminal)])


def _measured(report: FixReport, terminal: Terminal) -> Iterator[str]:
    """Yield what is known only after the report of a search: how fast the fixes are."""
    line = speed_line(report.verification)
    if line:
        yield from terminal.wrapped(line, "", "  ")
    if report.cost is not None:
        yield from cost_lines(report.cost, terminal)


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
        parts += [_fixed(report), f"{len(report.remaining)} remaining"]
        untested = _removed_by(report, "unverified")
        parts += [f"{untested} not verified"] if untested else []
    graphs, frames = summary.graphs, summary.skipped_frames
    numbers = f"graphs {graphs.before} → {graphs.after}"
    if frames.before or frames.after:
        numbers += f", skipped frames {frames.before} → {frames.after}"
    if any(fix.kind == "mitigate" for fix in report.fixes):
        numbers += f", operations in graphs {summary.ops.before} → {summary.ops.after}"
    yield terminal.style(f"fullgraph  {' · '.join(parts)}    {numbers}", "bold")


def _fixed(report: FixReport) -> str:
    """Return how many root causes are fixed, and how many of them by safe fixes."""
    causes = report.summary.causes
    fixed = max(causes.before - causes.after - _removed_by(report, "unverified"), 0)
    safely = min(_removed_by(report, "safe"), fixed)
    return f"{fixed} fixed" if safely == fixed else f"{fixed} fixed ({safely} safely)"


def _removed_by(report: FixReport, grade: Grade) -> int:
    return sum(fix.removes for fix in report.fixes if fix.grade == grade)


def _fix(number: int, fix: Fix, terminal: Terminal) -> Iterator[str]:
    where = _place_of_fix(fix)
    yield ""
    label = "mitigation: " if fix.kind == "mitigate" else ""
    heading = f"{label}{where}  {one_line(fix.title)}"
    for line in terminal.wrapped(heading, f"{number:>3}  ", _INDENT):
        yield terminal.style(line, "bold")
    facts = f"{one_line(fix.fixer)}: {_grade(fix)}{_removed(fix)}"
    if fix.diff and fix.grade != "unverified":
        facts += "; every changed line was run"
    yield from terminal.wrapped(facts, _INDENT, _INDENT)
    for line in _conditions(fix):
        yield from terminal.wrapped(line, _INDENT, _INDENT + "  ")
    if fix.settings:
        yield f"{_INDENT}add this before anything is compiled:"
    for line in fix.settings:
        yield f"{_INDENT}{terminal.style(f'+ {one_line(line)}', 'green')}"
    # Source may have other characters that `splitlines` takes for the end of a line.
    for line in fix.diff.removesuffix("\n").split("\n")[2:]:
        style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
        yield f"{_INDENT}{terminal.style(clean(line), style)}"


def _grade(fix: Fix) -> str:
    if fix.grade == "unverified":
        found = [f"no call runs {_line_numbers(fix.unreached)}"] if fix.unreached else []
        found += [f"no input was found for which {each}" for each in fix.unreached_sides]
        return f"not verified: {'; '.join(map(one_line, found))}"
    if fix.grade == "safe":
        return "safe; a new value recompiles" if fix.recompiles else "safe"
    return "not safe"


def _conditions(fix: Fix) -> Iterator[str]:
    """Yield what a fix changes and what it assumes."""
    yield from (f"changes: {one_line(each)}" for each in fix.changes)
    shown = fix.assumes[:_MOST_ASSUMPTIONS]
    yield from (f"assumes: {one_line(each)}" for each in shown)
    more = len(fix.assumes) - len(shown)
    if more:
        yield f"and {more} more {'assumption' if more == 1 else 'assumptions'} (--format json)"


def _removed(fix: Fix) -> str:
    """Return what a fix does to the root causes; nothing if it removes one, as most do."""
    if fix.kind == "mitigate":
        return "; the break remains but costs less"
    return f"; removes {fix.removes} root causes" if fix.removes > 1 else ""


def _line_numbers(numbers: tuple[int, ...]) -> str:
    word = "line" if len(numbers) == 1 else "lines"
    return f"{word} {', '.join(map(str, numbers))}"


def _remaining(number: int, remaining: RemainingBreak, terminal: Terminal) -> Iterator[str]:
    location = remaining.location
    name = f"{location.id}  {location.type}" if location.id else location.type
    where = _place_of_break(location)
    yield ""
    yield from terminal.wrapped(f"remaining: {where}  {name}", f"{number:>3}  ", _INDENT)
    for reason in _reasons(remaining) or [_UNKNOWN]:
        yield from terminal.wrapped(reason, _INDENT, _INDENT + "  ")


def _reasons(remaining: RemainingBreak) -> list[str]:
    """Return one reason per fixer. A candidate that was tried again has the last result."""
    by_fixer: dict[str, dict[str, str]] = {}
    for refusal in remaining.refusals:
        if refusal.fixer:
            reason = f"not applied, {refusal.reason} (line {refusal.line})"
            by_fixer.setdefault(refusal.fixer, {})[reason] = reason
    for each in remaining.rejected:
        by_fixer.setdefault(each.fixer, {})[each.title] = f"tried {each.title}: {each.reason}"
    unnamed = [each.reason for each in remaining.refusals if not each.fixer]
    if remaining.untried:
        names = ", ".join(remaining.untried)
        unnamed.append(f"not tried before the time limit: {names}")
    return unnamed + [f"{fixer}: {'; '.join(found.values())}" for fixer, found in by_fixer.items()]


def _guards(report: FixReport, terminal: Terminal) -> Iterator[str]:
    if not report.guards:
        return
    cost = sum(guard.microseconds for guard in report.guards)
    yield ""
    yield f"{len(report.guards)} value guards, together {cost:.0f} µs per call:"
    for guard in report.guards:
        where = _place(guard.file, guard.line)
        what = "size" if guard.kind == "shape" else "value"
        text = f"{where}  a {what} computed from {one_line(guard.input)} is {one_line(guard.value)}"
        yield from terminal.wrapped(text, _INDENT, _INDENT + "  ")
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
        yield from _next_steps(report, command)
    if report.out_of_time:
        yield from terminal.wrapped(_limit(report, command), "", "  ")


def _limit(report: FixReport, command: str) -> str:
    """Return that the limit was reached, and how to continue."""
    limit = f"the limit of {report.budget:.0f} s of CPU time was reached"
    untried = sum(bool(each.untried) for each in report.remaining)
    if untried:
        limit += (
            f", with candidates for {untried} root {'cause' if untried == 1 else 'causes'} left"
        )
    longer = f"--time {max(4 * report.budget, 60):.0f}"
    return f"{limit}; continue with: fullgraph fix {longer} {command}".rstrip()


def _next_steps(report: FixReport, command: str) -> Iterator[str]:
    """Yield the commands that use the fixes; none that would refuse to."""
    if not command or report.verification.problems:
        return
    if report.verification.is_slower:
        # Known only where the report is shown after the measurement.
        return
    grades = {fix.grade for fix in report.fixes if fix.kind != "guard"}
    if "safe" in grades:
        yield f"apply with: fullgraph fix --apply {command}"
    if grades & {"assumes", "changes"}:
        yield f"apply with, all that are verified: fullgraph fix --apply --unsafe {command}"
    grades = {fix.grade for fix in report.fixes}
    if "safe" in grades:
        yield f"run with the safe fixes, without changing files: fullgraph run --fix {command}"
    elif grades & {"assumes", "changes"}:
        yield f"run with these fixes: fullgraph run --fix --unsafe {command}"


def verification_line(facts: Verification) -> str:
    """Return the facts of a verification in one line."""
    if facts.problems:
        return f"failed: {facts.problems[0]}"
    parts = [f"{_calls(facts)}, outputs equal (largest difference {facts.largest_difference:.2g})"]
    if facts.probes:
        parts.append(f"{facts.probes} probes of other properties{_compiled_probes(facts)}")
    else:
        # A setting of a program whose calls are expensive is safe only as far as was verified.
        parts.append("no probes of other properties")
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
    parts += [
        f"not recorded: {number} more {'kind' if number == 1 else 'kinds'} of calls of {name}"
        for name, number in facts.not_recorded.items()
    ]
    return ", ".join(parts)


def _compiled_probes(facts: Verification) -> str:
    """Return how many probes ran compiled, with which backends."""
    ran = [f"{number} with {backend}" for backend, number in facts.probe_backends.items() if number]
    return f" ({', '.join(ran)})" if ran else " (none compiled)"


def _calls(facts: Verification) -> str:
    """Return how many calls ran, for each backend where it is not the same for all of them."""
    counts: dict[tuple[int, int], list[str]] = {}
    for each in facts.calls:
        counts.setdefault((each.recorded, each.varied), []).append(each.backend)
    if not counts:
        return f"{facts.recorded_calls} recorded and {facts.varied_calls} varied calls"
    parts = [
        f"{recorded} recorded and {varied} varied calls with {' and '.join(backends)}"
        for (recorded, varied), backends in counts.items()
    ]
    return ", ".join(parts)


def speed_line(facts: Verification) -> str:
    """Return how much faster a call is; empty if it was not measured."""
    if facts.speed_unknown:
        return f"speed: cannot be told: {facts.speed_unknown}"
    if facts.speedup is None:
        return ""
    low, high = facts.speedup_low or facts.speedup, facts.speedup_high or facts.speedup
    interval = f"{low:.2f} to {high:.2f}"
    if facts.is_slower and facts.speedup > 0:
        slower = f"{1 / max(high, 0.01):.2f} to {1 / max(low, 0.01):.2f}"
        return (
            f"withdrawn: a call takes {1 / facts.speedup:.2f} times as long with these fixes "
            f"({slower}), so --apply does not write them"
        )
    if facts.is_faster:
        return f"speed: {facts.speedup:.1f}x faster ({interval})"
    if facts.is_as_fast:
        return f"speed: as fast as before ({interval})"
    return f"speed: cannot be told: {interval} times as fast, which may be noise"


def _place_of_fix(fix: Fix) -> str:
    """Return where the fix changes the source, and the break if that is in another file."""
    if fix.changed_file is None or fix.changed_file == fix.location.file:
        return _place_of_break(fix.location)
    changed = _place(fix.changed_file, fix.changed_line or 1)
    return f"{changed} (break in {_place(fix.location.file, fix.location.line)})"


def _place_of_break(location: BreakLocation) -> str:
    """Return the location of a break; first a line that can be edited if it is in torch."""
    place = _place(location.file, location.line)
    if location.shown is None:
        return place
    return f"{_place(location.shown.file, location.shown.line)} (break in {place})"


def _place(file: str, line: int) -> str:
    return f"{_path(file)}:{line}"


def _path(file: str) -> str:
    return one_line(this_process().display_path(file))
