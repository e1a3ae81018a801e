"""The report for a terminal: readable at 80 columns, without color, and when piped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from fullgraph.model.events import Frame
from fullgraph.model.owners import YOURS, display_path
from fullgraph.model.report import (
    BreakSite,
    CascadingBreak,
    Failure,
    RecompileFinding,
    Report,
    RootCause,
    SkippedFrame,
)
from fullgraph.render._dynamic_sizes import interesting_sizes, size_lines
from fullgraph.render._recompiles import GroupWriter
from fullgraph.render._strings import printable_strings
from fullgraph.render.report._cost import describe_calls, describe_price
from fullgraph.render.report._errors import meaning_of, message_of, raised_errors, type_of
from fullgraph.render.report._phrases import headline_parts, impact, short_name, shorten, times
from fullgraph.render.report._source import (
    Location,
    line_of,
    shown_location,
    source_rows,
    stopped_at,
    text_of,
)
from fullgraph.terminal import Terminal, one_line

TOP = 10
# Longer explanations are shortened in a terminal.
_LONGEST_EXPLANATION = 320
_NO_ID = "------"
# A line is not broken here.
_KEPT_SPACE = "\xa0"
# In a terminal; `fullgraph explain` lists all.
_MOST_FIXERS = 3


def render(
    report: Report,
    *,
    width: int = 80,
    color: bool = False,
    is_terminal: bool = False,
    top: int | None = TOP,
    rest: str = "fullgraph report --all",
    **_: object,
) -> str:
    """Return the report as lines that fit into `width`.

    `top` is the number of root causes to show; None shows all. `rest` is the command that shows
    the others. Nothing is cut if all is shown, or unless `is_terminal`.
    """
    cut = is_terminal and top is not None
    writer = _Writer(report, Terminal(width, color, cut=cut), top, rest)
    return "\n".join(line.rstrip() for line in writer.lines()) + "\n"


class _Writer:
    """Writes the sections of one report."""

    def __init__(self, report: Report, terminal: Terminal, top: int | None, rest: str) -> None:
        self._report = report
        self._terminal = terminal
        self._width = terminal.width
        self._style = terminal.style
        self._wrapped = terminal.wrapped
        self._top = top
        self._rest = rest
        self._ranks = {cause.key: cause.rank for cause in report.causes}
        self._errors = raised_errors(report)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        yield from self._headline()
        yield from self._failures()
        shown = self._report.causes[: self._top]
        for cause in shown:
            # The stack is not shown, and may be long.
            yield from self._cause(printable_strings(msgspec.structs.replace(cause, stack=())))
        hidden = len(self._report.causes) - len(shown)
        if hidden:
            yield ""
            yield f"{hidden} more {'root cause' if hidden == 1 else 'root causes'}: {self._rest}"
        yield from self._section("cost of a call", self._cost())
        yield from self._section("skipped frames (run in eager mode)", self._skipped_frames())
        yield from self._section("stances (change what torch.compile does)", self._stances())
        yield from self._section("recompiles", self._recompiles())
        yield from self._section("dynamic sizes", self._dynamic_sizes())
        yield from self._section("differences from torch's own counts", self._disagreements())
        yield from self._section("not captured", self._problems())

    def _headline(self) -> Iterator[str]:
        indent = "fullgraph  "
        rows: list[str] = []
        for part in headline_parts(self._report):
            # A row ends between two parts where that is possible.
            if rows and len(indent) + len(rows[-1]) + 3 + len(part) <= self._width:
                rows[-1] += f" · {part}"
            else:
                rows.append(part)
        for row in rows:
            for line in self._wrapped(row, indent, " " * len(indent)):
                yield self._style(line, "bold")
            indent = " " * len(indent)

    def _failures(self) -> Iterator[str]:
        """Yield the errors that reached the program."""
        for failure, number in list(self._errors.items())[: self._top]:
            shown = msgspec.structs.replace(failure, stack=())
            yield from self._failure(printable_strings(shown), number)
        hidden = len(self._errors) - len(list(self._errors)[: self._top])
        if hidden:
            yield ""
            yield f"{hidden} more {'error' if hidden == 1 else 'errors'}: {self._rest}"

    def _failure(self, failure: Failure, number: int) -> Iterator[str]:
        yield ""
        type_ = one_line(type_of(failure)) or "error"
        heading = f"{one_line(failure.id)}  {type_}" if failure.id else type_
        location = shown_location(failure)
        function = f"while compiling {short_name(failure.function)}(){times(number)}"
        yield from self._heading(" !  ", heading, location, failure.owner, function)
        yield from self._source(failure, location)
        meaning = meaning_of(failure)
        yield from self._labelled("error", message_of(failure))
        if failure.explanation and one_line(failure.explanation) not in message_of(failure):
            yield from self._labelled("why", self._shortened(failure.explanation))
        yield from self._labelled("means", meaning.means)
        yield from self._labelled("fix", meaning.advice)
        if failure.id is not None:
            yield from self._labelled("more", f"fullgraph explain {failure.id}")

    def _cause(self, cause: RootCause) -> Iterator[str]:
        yield ""
        location = shown_location(cause)
        start = f"{cause.rank:>2}  "
        type_ = f"{one_line(cause.id or '') or _NO_ID}  {one_line(cause.type)}"
        yield from self._heading(start, type_, location, cause.owner, impact(cause))
        yield from self._source(cause, location)
        if self._report.cost is not None:
            yield from self._labelled("cost", describe_price(self._report.cost, cause.key))
        why = self._shortened(cause.explanation)
        if why:
            yield from self._labelled("why", why)
        yield from self._labelled("fix", cause.advice)
        yield from self._fixers(cause)
        for cascade in cause.cascades[: self._top]:
            yield from self._labelled("└ also", self._cascade(cascade))
        yield from self._more(len(cause.cascades), "    └ ")
        if cause.id is not None:
            yield from self._labelled("more", f"fullgraph explain {cause.id}")

    def _cascade(self, cascade: CascadingBreak) -> str:
        place = self._place(cascade.shown or cascade)
        name = f"{one_line(cascade.id or '') or _NO_ID} {one_line(cascade.type)}"
        return f"{name} ({place}{times(cascade.occurrences)}): {cascade.because}"

    def _shortened(self, explanation: str) -> str:
        text = one_line(explanation)
        return shorten(text, _LONGEST_EXPLANATION) if self._terminal.cut else text

    def _fixers(self, cause: RootCause) -> Iterator[str]:
        """Yield the fixers that serve a root cause; nothing if there is none."""
        from fullgraph.fix.declarations import serving_fixers

        serving = serving_fixers(cause.id, cause.category, text_of(cause))
        if serving.fixers:
            shown = serving.names[: _MOST_FIXERS if self._terminal.cut else None]
            hidden = len(serving.names) - len(shown)
            more = f" and {hidden} more" if hidden else ""
            yield from self._labelled("fix", f"{serving.claim}: {', '.join(shown)}{more}")

    def _heading(
        self, start: str, type_: str, location: Location, owner: str, effect: str
    ) -> Iterator[str]:
        """Yield the type, the location, the owner and the effect of a finding."""
        place = self._place(location)
        owner = one_line(owner)
        single = f"{start}{type_:<44}  {owner:<9}  {place}  {effect}"
        if len(single) <= self._width:
            yield (
                f"{self._style(f'{start}{type_:<44}', 'bold')}  "
                f"{self._owner(f'{owner:<9}')}  {self._style(place, 'cyan')}  {effect}"
            )
            return
        for line in self._wrapped(type_, start, " " * len(start)):
            yield self._style(line, "bold")
        where = f"    {self._style(place, 'cyan')}"
        if owner:
            where += f"  {self._owner(owner)}"
        if 4 + len(place) + len(owner) + len(effect) + 4 <= self._width:
            yield f"{where}  {effect}"
        else:
            yield where
            yield from self._wrapped(effect, "    ", "    ")

    def _source(self, finding: BreakSite | Failure, location: Location) -> Iterator[str]:
        """Yield the source at a location, where Dynamo stopped, and the lines that lead there."""
        yield from self._code_frame(location)
        stopped = stopped_at(finding)
        if location != stopped:
            yield from self._labelled("in", f"{self._place(stopped)}  {line_of(stopped)}")
        via = finding.via
        if via is not None and (via.file, via.line) != (location.file, location.line):
            yield from self._labelled("from", self._line(via))
        if isinstance(finding, BreakSite):
            yield from self._other_callers(finding.also_from)

    def _other_callers(self, frames: Sequence[Frame]) -> Iterator[str]:
        for frame in frames[: self._top]:
            yield from self._labelled("and", self._line(frame))
        yield from self._more(len(frames), "    ")

    def _line(self, frame: Frame) -> str:
        return f"{self._place(frame)}  {one_line(frame.code)}"

    def _owner(self, owner: str) -> str:
        return self._style(owner, "green" if owner.strip() == YOURS else "yellow")

    def _code_frame(self, location: Location) -> Iterator[str]:
        """Yield the source around a location, with a pointer below its line."""
        rows = list(source_rows(location))
        digits = max((len(str(row.number)) for row in rows), default=0)
        for row in rows:
            mark = ">" if row.is_marked else " "
            line = f"    {mark} {row.number:>{digits}} | {row.text}"
            yield self._style(self._terminal.clipped(line), "" if row.is_marked else "dim")
            if row.pointer:
                below = f"      {' ' * digits} | {row.pointer}"
                visible = below[: self._width] if self._terminal.cut else below
                yield self._style(visible, "red")

    def _section(self, title: str, rows: Iterator[str]) -> Iterator[str]:
        """Yield a title and the rows; nothing if there are no rows."""
        first = True
        for row in rows:
            if first:
                yield ""
                yield self._style(title, "bold")
                first = False
            yield row

    def _cost(self) -> Iterator[str]:
        if self._report.cost is not None:
            for text in describe_calls(self._report.cost, self._top):
                yield from self._wrapped(text, "  ", "      ")

    def _skipped_frames(self) -> Iterator[str]:
        frames = self._report.skipped_frames
        for frame in frames[: self._top]:
            text = self._skipped_frame(printable_strings(frame))
            yield from self._wrapped(text, "  ", "      ")
        yield from self._more(len(frames))

    def _skipped_frame(self, frame: SkippedFrame) -> str:
        name = f"{short_name(frame.qualified)}()"
        if frame.resumed_at:
            name += f" after line {frame.resumed_at}"
        rank = self._ranks.get(frame.site or "")
        why = f"because of root cause {rank}" if rank else frame.reason or "torch gives no reason"
        place = f"{self._place(frame)}{times(frame.occurrences)}"
        if frame.via is not None:
            place += f", compiled at {self._place(frame.via)}"
        return f"{name}  {place}  {why}"

    def _stances(self) -> Iterator[str]:
        stances = self._report.stances
        for stance in stances[: self._top]:
            caller = stance.caller
            place = self._place(caller) if caller else "set before the capture"
            row = f"{one_line(stance.call)}  {place}  {one_line(stance.effect)}"
            yield from self._wrapped(row, "  ", "      ")
        yield from self._more(len(stances))

    def _recompiles(self) -> Iterator[str]:
        groups = self._report.recompile_groups
        if not groups:
            yield from self._recompiles_without_groups()
            return
        writer = GroupWriter(self._terminal, self._line_place)
        for number, group in enumerate(groups[: self._top], 1):
            if number > 1:
                yield ""
            yield from writer.lines(group, number)
        yield from self._more(len(groups))

    def _recompiles_without_groups(self) -> Iterator[str]:
        """Yield the recompiles of a report that was written by an older version."""
        recompiles = self._report.recompiles
        for recompile in recompiles[: self._top]:
            text = self._recompile(printable_strings(recompile))
            for line in self._wrapped(text, "  ", "      "):
                yield line.replace(_KEPT_SPACE, " ")
        yield from self._more(len(recompiles))

    def _recompile(self, recompile: RecompileFinding) -> str:
        function = f"{short_name(recompile.qualified)}()  {self._place(recompile)}"
        failed = [guard for failure in recompile.failures for guard in failure.failed]
        distinct = list(dict.fromkeys(failed))
        guards = "; ".join(map(self._guard, distinct)) or "torch names no failed guard"
        if recompile.limit:
            limit = f"{one_line(recompile.limit)} ({recompile.limit_value}) reached"
            return f"{function}  {limit}, {self._limit_effect(recompile)}; {guards}"
        return f"{function}  [{one_line(recompile.compile)}] {guards}"

    def _guard(self, guard: str) -> str:
        """Return a guard that is not broken into two lines, if it fits into one."""
        text = one_line(guard)
        return text if len(text) > self._width - 8 else text.replace(" ", _KEPT_SPACE)

    def _limit_effect(self, found: RecompileFinding) -> str:
        """Return what happens when a limit is reached: an error, or eager mode."""
        function = (found.file, found.line, found.function)
        refused = {
            each.compile
            for each in self._report.recompiles
            if each.limit and (each.file, each.line, each.function) == function
        }
        if any(failure.compile in refused for failure in self._errors):
            return "which raises an error"
        return "new inputs run in eager mode"

    def _dynamic_sizes(self) -> Iterator[str]:
        """Yield the sizes that were specialized although they were to be dynamic; or all."""
        sizes = interesting_sizes(self._report.dynamic_sizes, show_all=self._top is None)
        for size in sizes[: self._top]:
            yield from size_lines(printable_strings(size), self._terminal, self._place)
        yield from self._more(len(sizes))

    def _disagreements(self) -> Iterator[str]:
        for entry in map(printable_strings, self._report.disagreements):
            numbers = f"fullgraph counts {entry.ours}, torch counts {entry.theirs}"
            text = f"{one_line(entry.what)}: {numbers}; {entry.why}"
            yield from self._wrapped(text, "  ", "      ")

    def _problems(self) -> Iterator[str]:
        environment = self._report.environment
        if environment.killed:
            text = (
                f"{environment.killed} of {environment.processes} processes ended unexpectedly "
                "(killed, or through os._exit); the report has everything captured before that"
            )
            yield from self._wrapped(text, "  ", "      ")
        for problem in self._report.problems:
            yield from self._wrapped(problem.message, "  ", "      ")

    def _more(self, number: int, indent: str = "  ") -> Iterator[str]:
        if self._top is not None and number > self._top:
            yield f"{indent}{number - self._top} more: {self._rest}"

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        yield from self._wrapped(text, f"    {label:<6} ", " " * 11)

    def _place(
        self, place: Location | Frame | CascadingBreak | SkippedFrame | RecompileFinding
    ) -> str:
        return self._line_place(place.file, place.line)

    def _line_place(self, file: str, line: int) -> str:
        environment = self._report.environment
        path = display_path(file, [environment.directory], environment.package_folders)
        return f"{one_line(path)}:{line}"
