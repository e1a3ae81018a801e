"""The report for a terminal: readable at 80 columns, without color, and when piped."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from fullgraph.model.owners import YOURS, display_path
from fullgraph.model.report import BreakSite, RecompileFinding, Report, RootCause, SkippedFrame
from fullgraph.render.report._phrases import (
    headline_parts,
    impact,
    one_line,
    pointer,
    short_name,
    shorten,
    times,
)
from fullgraph.terminal import Terminal, clean

TOP = 10
_LONGEST_EXPLANATION = 320
_NO_ID = "------"
_MOST_FIXERS = 3


def render(
    report: Report,
    *,
    width: int = 80,
    color: bool = False,
    top: int | None = TOP,
    rest: str = "fullgraph report --all",
    **_: object,
) -> str:
    """Return the report as lines that fit into `width`.

    `top` is the number of root causes to show; None shows all. `rest` is the command that shows
    the others.
    """
    writer = _Writer(report, Terminal(width, color), top, rest)
    return "\n".join(line.rstrip() for line in writer.lines()) + "\n"


class _Writer:
    """Writes the sections of one report."""

    def __init__(self, report: Report, terminal: Terminal, top: int | None, rest: str) -> None:
        self._report = report
        self._width = terminal.width
        self._style = terminal.style
        self._wrapped = terminal.wrapped
        self._clipped = terminal.clipped
        self._top = top
        self._rest = rest
        self._ranks = {cause.key: cause.rank for cause in report.causes}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        yield from self._headline()
        shown = self._report.causes[: self._top]
        for cause in shown:
            yield from self._cause(cause)
        hidden = len(self._report.causes) - len(shown)
        if hidden:
            yield ""
            yield f"{hidden} more {'root cause' if hidden == 1 else 'root causes'}: {self._rest}"
        yield from self._section("skipped frames (run in eager mode)", self._skipped_frames())
        yield from self._section("recompiles", self._recompiles())
        yield from self._section("errors while compiling", self._errors())
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

    def _cause(self, cause: RootCause) -> Iterator[str]:
        yield ""
        yield from self._cause_heading(cause)
        yield from self._code_frame(cause)
        if cause.via is not None:
            via = f"{self._path(cause.via.file)}:{cause.via.line}  {clean(cause.via.code)}"
            yield from self._labelled("from", via)
        why = shorten(one_line(cause.explanation), _LONGEST_EXPLANATION)
        if why:
            yield from self._labelled("why", why)
        yield from self._labelled("fix", cause.advice)
        yield from self._fixers(cause)
        for cascade in cause.cascades:
            place = f"{self._path(cascade.file)}:{cascade.line}{times(cascade.occurrences)}"
            name = f"{cascade.id or _NO_ID} {clean(cascade.type)} ({place})"
            yield from self._labelled("└ also", f"{name}: {cascade.because}")
        if cause.id is not None:
            yield from self._labelled("more", f"fullgraph explain {cause.id}")

    def _fixers(self, cause: RootCause) -> Iterator[str]:
        """Yield the fixers that serve a root cause; nothing if there is none."""
        from fullgraph.fix.declarations import serving_fixers

        serving = serving_fixers(cause.id, cause.category)
        if serving.fixers:
            names = ", ".join(serving.names[:_MOST_FIXERS])
            yield from self._labelled("fix", f"{serving.claim}: {names}")

    def _cause_heading(self, cause: RootCause) -> Iterator[str]:
        start = f"{cause.rank:>2}  {cause.id or _NO_ID}  "
        type_ = clean(cause.type)
        place = f"{self._path(cause.file)}:{cause.line}"
        effect = impact(cause)
        single = f"{start}{type_:<36}  {cause.owner:<9}  {place}  {effect}"
        if len(single) <= self._width:
            yield (
                f"{self._style(start, 'bold')}{self._style(f'{type_:<36}', 'bold')}  "
                f"{self._owner(f'{cause.owner:<9}')}  {self._style(place, 'cyan')}  {effect}"
            )
            return
        room = self._width - len(start)
        for index, line in enumerate(textwrap.wrap(type_, room) or [""]):
            yield self._style((start if index == 0 else " " * len(start)) + line, "bold")
        if 4 + len(place) + len(cause.owner) + len(effect) + 4 <= self._width:
            yield f"    {self._style(place, 'cyan')}  {self._owner(cause.owner)}  {effect}"
        else:
            yield f"    {self._style(place, 'cyan')}  {self._owner(cause.owner)}"
            yield from self._wrapped(effect, "    ", "    ")

    def _owner(self, owner: str) -> str:
        return self._style(owner, "green" if owner.strip() == YOURS else "yellow")

    def _code_frame(self, site: BreakSite) -> Iterator[str]:
        """Yield the source around the break, with a pointer below its line."""
        if not site.excerpt:
            return
        lines = [line for line in site.excerpt if line.number <= (site.end_line or site.line) + 1]
        texts = textwrap.dedent("\n".join(clean(line.text) for line in lines)).split("\n")
        digits = len(str(lines[-1].number))
        for line, text in zip(lines, texts, strict=True):
            if line.number < site.line and not text.strip():
                continue
            mark = ">" if line.number == site.line else " "
            row = f"    {mark} {line.number:>{digits}} | {text}"
            yield self._style(self._clipped(row), "" if mark == ">" else "dim")
            below = pointer(site, line.text, text) if line.number == site.line else ""
            if below:
                bar = f"      {' ' * digits} | "
                yield self._style((bar + below)[: self._width], "red")

    def _section(self, title: str, rows: Iterator[str]) -> Iterator[str]:
        """Yield a title and the rows; nothing if there are no rows."""
        first = True
        for row in rows:
            if first:
                yield ""
                yield self._style(title, "bold")
                first = False
            yield row

    def _skipped_frames(self) -> Iterator[str]:
        frames = self._report.skipped_frames
        for frame in frames[: self._top]:
            yield from self._wrapped(self._skipped_frame(frame), "  ", "      ")
        yield from self._more(len(frames))

    def _skipped_frame(self, frame: SkippedFrame) -> str:
        name = f"{short_name(frame.qualified)}()"
        if frame.resumed_at:
            name += f" after line {frame.resumed_at}"
        rank = self._ranks.get(frame.site or "")
        why = f"because of root cause {rank}" if rank else frame.reason or "torch gives no reason"
        place = f"{self._path(frame.file)}:{frame.line}{times(frame.occurrences)}"
        return f"{name}  {place}  {clean(why)}"

    def _recompiles(self) -> Iterator[str]:
        recompiles = self._report.recompiles
        for recompile in recompiles[: self._top]:
            yield self._clipped(f"  {self._recompile(recompile)}")
        yield from self._more(len(recompiles))

    def _recompile(self, recompile: RecompileFinding) -> str:
        place = f"{self._path(recompile.file)}:{recompile.line}"
        function = f"{short_name(recompile.qualified)}()  {place}"
        failed = [guard for failure in recompile.failures for guard in failure.failed]
        distinct = list(dict.fromkeys(failed))
        guards = "; ".join(one_line(guard) for guard in distinct) or "torch names no failed guard"
        if recompile.limit:
            limit = f"{recompile.limit} ({recompile.limit_value}) reached"
            return f"{function}  {limit}, new inputs run in eager mode; {guards}"
        return f"{function}  [{recompile.compile}] {guards}"

    def _errors(self) -> Iterator[str]:
        # A suppressed error skips a frame and is shown there.
        raised = [failure for failure in self._report.errors if failure.outcome == "raised"]
        for failure in raised[: self._top]:
            place = f"{failure.function}()  {self._path(failure.file)}:{failure.line}"
            yield from self._wrapped(f"{place}  {clean(failure.error)}", "  ", "      ")
        yield from self._more(len(raised))

    def _disagreements(self) -> Iterator[str]:
        for entry in self._report.disagreements:
            numbers = f"fullgraph counts {entry.ours}, torch counts {entry.theirs}"
            yield from self._wrapped(f"{entry.what}: {numbers}; {entry.why}", "  ", "      ")

    def _problems(self) -> Iterator[str]:
        environment = self._report.environment
        if environment.killed:
            text = (
                f"{environment.killed} of {environment.processes} processes ended unexpectedly "
                "(killed, or through os._exit); the report has everything captured before that"
            )
            yield from self._wrapped(text, "  ", "      ")
        for problem in self._report.problems:
            yield from self._wrapped(clean(problem.message), "  ", "      ")

    def _more(self, number: int) -> Iterator[str]:
        if self._top is not None and number > self._top:
            yield f"  {number - self._top} more: {self._rest}"

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        yield from self._wrapped(text, f"    {label:<6} ", " " * 11)

    def _path(self, file: str) -> str:
        environment = self._report.environment
        return clean(display_path(file, [environment.directory], environment.package_folders))
