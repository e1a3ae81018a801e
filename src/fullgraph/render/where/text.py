"""A table of choices for a terminal: the recommendation first, then what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullgraph.model.owners import this_process
from fullgraph.render._lines import joined
from fullgraph.render._strings import printable_strings
from fullgraph.render._times import duration
from fullgraph.terminal import Terminal, one_line
from fullgraph.where.report import Choice, ChoiceResult, Ratio, TargetReport, WhereReport

_TITLES = ("compile", "per call", "speedup", "graphs", "breaks", "recompiles")
_NONE = "–"
# Names of choices are not cut shorter than this.
_SHORTEST_NAME = 20
# Lines of the program are cut to this length.
_LONGEST_CODE = 60


def render(
    report: WhereReport,
    *,
    width: int = 100,
    color: bool = False,
    is_terminal: bool = False,
    **_: object,
) -> str:
    """Return one table per compiled function or outermost module."""
    terminal = Terminal(width, color, is_terminal)
    return joined(_lines(printable_strings(report), terminal))


def _lines(report: WhereReport, terminal: Terminal) -> Iterator[str]:
    for number, target in enumerate(report.targets):
        if number:
            yield ""
        yield from _target_lines(report, target, terminal)


def _target_lines(report: WhereReport, target: TargetReport, terminal: Terminal) -> Iterator[str]:
    subject = one_line(target.name)
    headline = target.advice if target.chosen is not None else f"{subject}: {target.advice}"
    yield from (
        terminal.style(line, "bold")
        for line in terminal.wrapped(f"fullgraph  {one_line(headline)}", "", " " * 11)
    )
    if target.reason:
        yield from terminal.wrapped(one_line(target.reason), " " * 11, " " * 11)
    yield ""
    yield from terminal.wrapped(_measured(report, target), "  ", "  ")
    if target.eager is not None:
        yield ""
        yield from _table(target, terminal)
    yield from _rest(target, terminal)
    if report.ended:
        text = "the program was ended early, when its calls were recorded"
        yield from terminal.wrapped(text, f"  {'note':<12}", " " * 14)


def _measured(report: WhereReport, target: TargetReport) -> str:
    kind = f" ({one_line(target.class_name)})" if target.class_name else ""
    calls = f"{target.recorded} of {target.calls} calls recorded"
    threads = f"{report.threads} thread{'' if report.threads == 1 else 's'}"
    return f"{one_line(target.name)}{kind}: {calls}, backend {report.backend}, {threads}"


def _table(target: TargetReport, terminal: Terminal) -> Iterator[str]:
    rows = [("choice", *_TITLES), ("eager mode", _NONE, _per_call(target.eager), "1x", *"   ")]
    rows += [(_label(each.choice), *_cells(each)) for each in target.choices]
    widths = [max(len(row[column]) for row in rows) for column in range(1, len(_TITLES) + 1)]
    taken = sum(widths) + 2 * len(widths) + 4
    longest = max(len(row[0]) for row in rows)
    if terminal.cut:
        longest = min(longest, max(terminal.width - taken, _SHORTEST_NAME))
    for number, row in enumerate(rows):
        place = number - 2
        is_chosen = place >= 0 and place == target.chosen
        cells = "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths, strict=True))
        line = f"{'>' if is_chosen else ' '} {_cut(row[0], longest):<{longest}}{cells}"
        yield terminal.style(line, "green" if is_chosen else "dim" if number == 0 else "")
        if place >= 0:
            yield from _below(target.choices[place], terminal)


def _cut(name: str, width: int) -> str:
    """Return a name cut in the middle: long paths differ at their ends."""
    if len(name) <= width:
        return name
    start = width // 4
    return f"{name[:start]}…{name[start + 1 - width :]}"


def _label(choice: Choice) -> str:
    """Return the name of a choice, with what it is in parentheses."""
    if choice.kind == "blocks" and not choice.class_name:
        return f"all repeated blocks ({choice.count})"
    match choice.kind:
        case "whole":
            about = "whole"
        case "blocks" | "submodule" if choice.count > 1:
            about = f"{choice.count} {one_line(choice.class_name)}"
        case "submodule":
            about = one_line(choice.class_name)
        case _:
            about = ""
    name = one_line(choice.name) + ("()" if choice.kind == "function" else "")
    facts = ", ".join([*([about] if about else []), *(["today"] if choice.today else [])])
    return f"{name} ({facts})" if facts else name


def _cells(result: ChoiceResult) -> tuple[str, ...]:
    counts = (str(result.graphs), str(result.breaks), str(result.recompiles + result.refused))
    if result.first_seconds is None:
        return (_NONE,) * len(_TITLES)
    compiling = result.compile_seconds
    shown = f"{result.first_seconds if compiling is None else compiling:.1f} s"
    return (shown, _per_call(result.steady), _speedup(result.speedup), *counts)


def _per_call(estimate: object) -> str:
    seconds: float | None = getattr(estimate, "seconds", None)
    return _NONE if seconds is None else duration(seconds)


def _speedup(ratio: Ratio | None) -> str:
    """Return a speedup; one that may be none is not shown as a number."""
    if ratio is None:
        return _NONE
    return "≈ 1x" if ratio.low <= 1 <= ratio.high else f"{ratio.value:.2f}x"


def _below(result: ChoiceResult, terminal: Terminal) -> Iterator[str]:
    """Return what the row does not say, in lines of its own."""
    notes = []
    if result.problem:
        notes.append(f"not offered: {one_line(result.problem)}")
    if result.refused:
        notes.append("the recompile limit was reached, so that some calls run in eager mode")
    if result.skipped_frames:
        count = result.skipped_frames
        what = "1 function runs" if count == 1 else f"{count} functions run"
        notes.append(f"{what} in eager mode because of breaks")
    if result.later_compiles:
        notes.append("it compiles again in later calls with the same inputs")
    for note in notes:
        yield from terminal.wrapped(note, "      ", "      ")


def _rest(target: TargetReport, terminal: Terminal) -> Iterator[str]:
    yield ""
    chosen = next(
        (each.choice for n, each in enumerate(target.choices) if n == target.chosen), None
    )
    is_new = chosen is not None and not chosen.today
    if chosen is not None and is_new:
        yield from _labelled("write", chosen.code)
    today = [_place(each.file, each.line, each.text) for each in target.compiled_at]
    yield from _labelled("instead of" if is_new else "today", today)
    for note in target.notes:
        yield from terminal.wrapped(one_line(note), f"  {'note':<12}", " " * 14)
    for each in target.not_tried:
        text = f"{one_line(each.name)}: {one_line(each.reason)}"
        yield from terminal.wrapped(text, f"  {'not tried':<12}", " " * 14)


def _labelled(label: str, lines: Sequence[str]) -> Iterator[str]:
    """Return lines of code as they are, with a label at the left of the first."""
    for number, line in enumerate(lines):
        yield f"  {label if number == 0 else '':<12}{line}"


def _place(file: str, line: int, text: str) -> str:
    code = one_line(text)
    shown = code if len(code) <= _LONGEST_CODE else f"{code[: _LONGEST_CODE - 1]}…"
    return f"{one_line(this_process().display_path(file))}:{line}  {shown}"
