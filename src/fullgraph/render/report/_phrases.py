"""Phrases of the terminal report: pure functions from the report to strings."""

from __future__ import annotations

from fullgraph.model.report import Report, RootCause
from fullgraph.render.report._errors import raised_errors
from fullgraph.terminal import one_line


def headline_parts(report: Report) -> list[str]:
    """Return the parts of the first line: errors and breaks, the graphs, the compile time."""
    summary = report.summary
    errors = sum(raised_errors(report).values())
    if not summary.compiles and not summary.occurrences and not errors:
        return [_nothing_compiled(report)]
    compiled = f"{count(summary.graphs, 'graph')}, {count(summary.ops, 'op')} compiled"
    digits = 1 if summary.compile_seconds >= 1 else 2
    findings = _breaks(report)
    if errors:
        findings = f"{count(errors, 'error')} while compiling, {findings}"
    parts = [findings, compiled, f"{summary.compile_seconds:.{digits}f} s compiling"]
    if summary.recompiles:
        parts.append(count(summary.recompiles, "recompile"))
    if summary.refused:
        parts.append(count(summary.refused, "refused compile"))
    return parts


def _nothing_compiled(report: Report) -> str:
    if any(problem.fatal for problem in report.problems):
        return "nothing was captured; the reason is below"
    if report.summary.skipped_frames:
        return "nothing was compiled: Dynamo skipped every frame"
    for stance in report.stances:
        if stance.stance != "default":
            call, effect = one_line(stance.call), one_line(stance.effect)
            return f"nothing was compiled; {call} is used: {effect}"
    return "nothing was compiled: the program ran no code under torch.compile"


def _breaks(report: Report) -> str:
    summary = report.summary
    if not summary.sites and not summary.skipped_frames:
        return "no graph breaks"
    breaks = f"{count(summary.causes, 'root cause')}, {count(summary.sites, 'break site')}"
    if summary.skipped_frames:
        breaks += f", {count(summary.skipped_frames, 'skipped frame')}"
    return breaks


def impact(cause: RootCause) -> str:
    """Return what a break does, such as `12 occurrences, splits forward() in two`."""
    parts = [count(cause.occurrences, "occurrence")]
    if cause.raised:
        parts.append("raised as an error")
    if cause.skipped_frames:
        parts.append(f"skips {_functions(cause.skipped_frames)}")
    split = tuple(name for name in cause.frames if name not in cause.skipped_frames)
    if cause.resumed and split:
        parts.append(f"splits {_functions(split)}" + (" in two" if len(split) == 1 else ""))
    if cause.cut:
        parts.append("leaves the rest of the function in eager mode")
    if cause.user_requested:
        parts.append("requested by the program")
    return ", ".join(parts)


def _functions(names: tuple[str, ...]) -> str:
    shown = [f"{short_name(name)}()" for name in names[:2]]
    more = len(names) - len(shown)
    return f"{', '.join(shown)} and {more} more" if more else " and ".join(shown)


def short_name(qualified: str) -> str:
    """Return `Model.forward`, and only the last name of a function inside another function."""
    return one_line(qualified.rsplit("<locals>.", 1)[-1])


def shorten(text: str, longest: int) -> str:
    """Return `text`, cut after a word if it is longer than `longest`."""
    return text if len(text) <= longest else text[: longest - 1].rsplit(" ", 1)[0] + " …"


def times(occurrences: int) -> str:
    """Return `, 3 times`, or nothing for one occurrence."""
    return "" if occurrences == 1 else f", {occurrences} times"


def count(number: int, noun: str) -> str:
    """Return `1 graph` or `2 graphs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
