"""The groups of recompiles and their remedies for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.owners import this_process
from fullgraph.recompiles.report import (
    GroupAdvice,
    RecompilesReport,
    Remedy,
    ReplayResult,
)
from fullgraph.render._dynamic_sizes import interesting_sizes, size_lines
from fullgraph.render._lines import joined
from fullgraph.render._recompiles import GroupWriter
from fullgraph.render._strings import printable_strings
from fullgraph.terminal import Terminal, one_line

_MOST_REMEDIES = 4
_MOST_GROUPS = 10
# A steady call that takes this many times as long, or more, is worth a word.
_SLOWER = 1.1


def render(
    report: RecompilesReport,
    *,
    width: int = 100,
    color: bool = False,
    is_terminal: bool = False,
    top: int | None = _MOST_GROUPS,
    command: str = "",
    **_: object,
) -> str:
    """Return the groups; `command` is the program as the user typed it, for what to do next."""
    terminal = Terminal(width, color, is_terminal)
    return joined(_lines(printable_strings(report), terminal, top, command))


def _lines(
    report: RecompilesReport, terminal: Terminal, top: int | None, command: str
) -> Iterator[str]:
    if not report.groups:
        compiles = report.summary.compiles
        yield f"fullgraph  no recompiles; {compiles} {_plural(compiles, 'compile')}"
        return
    yield terminal.style(f"fullgraph  {_headline(report)}", "bold")
    if report.not_replayed:
        yield from terminal.wrapped(f"remedies are {report.not_replayed}", "  ", "  ")
    shown = report.groups if top is None else report.groups[:top]
    for number, advice in enumerate(shown, 1):
        yield ""
        yield from _advice_lines(number, advice, terminal, bool(report.not_replayed), top is None)
    if len(shown) < len(report.groups):
        yield ""
        yield f"{len(report.groups) - len(shown)} more groups: --all shows them"
    sizes = interesting_sizes(report.dynamic_sizes, show_all=top is None)
    if sizes:
        yield ""
        yield terminal.style("dynamic sizes", "bold")
    for size in sizes:
        yield from size_lines(size, terminal, lambda frame: _place(frame.file, frame.line))
    if command and (remedy := _first_to_apply(report)) is not None:
        yield ""
        yield f"apply with: fullgraph recompiles --apply {remedy} {command}"


def _headline(report: RecompilesReport) -> str:
    summary = report.summary
    parts = [
        f"{summary.recompiles} {_plural(summary.recompiles, 'recompile')} "
        f"in {summary.groups} {_plural(summary.groups, 'group')}",
        f"{summary.compile_seconds:.1f} s compiling",
    ]
    if summary.refused:
        parts.append(f"{summary.refused} refused by a limit")
    if summary.eager_calls and summary.calls:
        parts.append(f"{summary.eager_calls} of {summary.calls} calls in eager mode")
    if summary.raised_calls and summary.calls:
        parts.append(f"{summary.raised_calls} of {summary.calls} calls raised an error")
    return " · ".join(parts)


def _advice_lines(
    number: int, advice: GroupAdvice, terminal: Terminal, quiet: bool, show_all: bool
) -> Iterator[str]:
    yield from GroupWriter(terminal, _place).lines(advice.group, number)
    remedies = advice.remedies if show_all else advice.remedies[:_MOST_REMEDIES]
    for place, remedy in enumerate(remedies):
        text = _remedy_text(remedy, quiet)
        yield from terminal.wrapped(text, f"    {'or' if place else 'do':<8}", " " * 12)
    if advice.why:
        yield from terminal.wrapped(advice.why, f"    {'do':<8}", " " * 12)


def _remedy_text(remedy: Remedy, quiet: bool) -> str:
    text = one_line(remedy.text)
    if remedy.where is not None:
        text += f", in {_place(remedy.where.file, remedy.where.line)}"
    if remedy.replay is not None:
        return f"{text}    {_replayed(remedy.replay)}"
    if remedy.kind == "unsafe":
        return f"{text}    unsafe, not verified: {remedy.risk}"
    if remedy.kind == "rewrite":
        return f"{text}    (a rewrite; not replayed)"
    why = "not replayed" if quiet or not remedy.not_replayed else remedy.not_replayed
    return f"{text}    {why}"


def _replayed(result: ReplayResult) -> str:
    compiles, eager = result.compiles, result.eager_calls
    parts = [f"{compiles.before} → {compiles.after} compiles"]
    if eager.before or eager.after:
        parts.append(f"{eager.before} → {eager.after} eager calls")
    if result.call_ratio is not None and result.call_ratio >= _SLOWER:
        parts.append(f"{result.call_ratio:.1f}x slower per call")
    parts.append("outputs equal")
    return f"replayed: {', '.join(parts)}"


def _first_to_apply(report: RecompilesReport) -> str | None:
    """Return the number of the first remedy that `--apply` can write; None if there is none."""
    for number, advice in enumerate(report.groups, 1):
        for place, remedy in enumerate(advice.remedies, 1):
            if remedy.replay is not None and remedy.diff:
                return str(number) if place == 1 else f"{number}.{place}"
    return None


def _place(file: str, line: int) -> str:
    return f"{one_line(this_process().display_path(file))}:{line}"


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
