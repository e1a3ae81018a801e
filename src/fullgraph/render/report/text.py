"""The report for a terminal: readable at 80 columns, without colour, and when piped."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator

from fullgraph.model.report import (
    YOURS,
    Cause,
    EagerFrame,
    RecompileFinding,
    Report,
    Site,
)
from fullgraph.terminal import Terminal, clean

TOP = 10
_PACKAGES = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")
_LONGEST_WHY = 320


def render(
    report: Report,
    *,
    width: int = 80,
    color: bool = False,
    top: int | None = TOP,
    rest: str = "fullgraph report --all",
    **_: object,
) -> str:
    """`top` is how many causes are shown in full; `rest` is the command that shows them all."""
    writer = _Writer(report, Terminal(width, color), top, rest)
    return "\n".join(line.rstrip() for line in writer.lines()) + "\n"


class _Writer:
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
        yield from self._headline()
        shown = self._report.causes[: self._top]
        for cause in shown:
            yield from self._cause(cause)
        hidden = len(self._report.causes) - len(shown)
        if hidden:
            yield ""
            yield f"{hidden} more {_plural(hidden, 'cause')}: {self._rest}"
        yield from self._section("frames that ran entirely in eager", self._eager_frames())
        yield from self._section("recompiles", self._recompiles())
        yield from self._section("errors while compiling", self._errors())
        yield from self._section("where torch's own numbers differ", self._disagreements())
        yield from self._section("not captured", self._problems())

    # The headline

    def _headline(self) -> Iterator[str]:
        indent = "fullgraph  "
        rows: list[str] = []
        for part in _headline_parts(self._report):
            # Broken between its parts where that is possible.
            if rows and len(indent) + len(rows[-1]) + 3 + len(part) <= self._width:
                rows[-1] += f" · {part}"
            else:
                rows.append(part)
        for row in rows:
            for line in self._wrapped(row, indent, " " * len(indent)):
                yield self._style(line, "bold")
            indent = " " * len(indent)

    # Causes

    def _cause(self, cause: Cause) -> Iterator[str]:
        yield ""
        yield from self._cause_heading(cause)
        yield from self._code_frame(cause)
        if cause.via is not None:
            via = f"{self._path(cause.via.file)}:{cause.via.line}  {clean(cause.via.code)}"
            yield from self._labelled("from", via)
        why = _shorten(_one_line(cause.explanation), _LONGEST_WHY)
        if why:
            yield from self._labelled("why", why)
        yield from self._labelled("to do", cause.advice)
        for cascade in cause.cascades:
            times = "" if cascade.occurrences == 1 else f", {cascade.occurrences} times"
            place = f"{self._path(cascade.file)}:{cascade.line}"
            name = f"{cascade.id or '------'} {clean(cascade.type)} ({place}{times})"
            yield from self._labelled("└ also", f"{name}: {cascade.because}")
        if cause.id is not None:
            yield from self._labelled("more", f"fullgraph explain {cause.id}")

    def _cause_heading(self, cause: Cause) -> Iterator[str]:
        start = f"{cause.rank:>2}  {cause.id or '------'}  "
        type_ = clean(cause.type)
        place = f"{self._path(cause.file)}:{cause.line}"
        effect = _effect(cause)
        one_line = f"{start}{type_:<36}  {cause.owner:<9}  {place}  {effect}"
        if len(one_line) <= self._width:
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

    def _code_frame(self, site: Site) -> Iterator[str]:
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
            if line.number == site.line:
                pointer = _pointer(site, line.text, text)
                if pointer:
                    bar = f"      {' ' * digits} | "
                    yield self._style((bar + pointer)[: self._width], "red")

    # The other sections

    def _section(self, title: str, rows: Iterator[str]) -> Iterator[str]:
        first = True
        for row in rows:
            if first:
                yield ""
                yield self._style(title, "bold")
                first = False
            yield row

    def _eager_frames(self) -> Iterator[str]:
        frames = self._report.eager_frames
        for frame in frames[: self._top]:
            yield from self._wrapped(self._eager_frame(frame), "  ", "      ")
        yield from self._more(len(frames))

    def _eager_frame(self, frame: EagerFrame) -> str:
        name = f"{_short_name(frame.qualified)}()"
        if frame.resumed_at:
            name += f" after line {frame.resumed_at}"
        times = "" if frame.occurrences == 1 else f", {frame.occurrences} times"
        rank = self._ranks.get(frame.site or "")
        why = f"because of {rank}" if rank else frame.reason or "for no reason that torch gives"
        return f"{name}  {self._path(frame.file)}:{frame.line}{times}  {clean(why)}"

    def _recompiles(self) -> Iterator[str]:
        recompiles = self._report.recompiles
        for recompile in recompiles[: self._top]:
            yield self._clipped(f"  {self._recompile(recompile)}")
        yield from self._more(len(recompiles))

    def _recompile(self, recompile: RecompileFinding) -> str:
        place = (
            f"{_short_name(recompile.qualified)}()  {self._path(recompile.file)}:{recompile.line}"
        )
        failed = [guard for failure in recompile.failures for guard in failure.failed]
        distinct = list(dict.fromkeys(failed))
        what = "; ".join(_one_line(guard) for guard in distinct) or "torch names no failed guard"
        if recompile.limit:
            limit = f"{recompile.limit} ({recompile.limit_value}) reached"
            return f"{place}  {limit}, new inputs run in eager; {what}"
        return f"{place}  [{recompile.compile}] {what}"

    def _errors(self) -> Iterator[str]:
        # One that was suppressed left a frame in eager, and is told there.
        raised = [failure for failure in self._report.errors if failure.outcome == "raised"]
        for failure in raised[: self._top]:
            place = f"{failure.function}()  {self._path(failure.file)}:{failure.line}"
            yield from self._wrapped(f"{place}  {clean(failure.error)}", "  ", "      ")
        yield from self._more(len(raised))

    def _disagreements(self) -> Iterator[str]:
        for entry in self._report.disagreements:
            text = f"{entry.what}: {entry.ours} here, {entry.theirs} by torch's count; {entry.why}"
            yield from self._wrapped(text, "  ", "      ")

    def _problems(self) -> Iterator[str]:
        environment = self._report.environment
        if environment.killed:
            text = (
                f"{environment.killed} of {environment.processes} processes ended without notice "
                "(killed, or left through os._exit); what was captured until then is here"
            )
            yield from self._wrapped(text, "  ", "      ")
        for problem in self._report.problems:
            yield from self._wrapped(clean(problem.message), "  ", "      ")

    def _more(self, count: int) -> Iterator[str]:
        if self._top is not None and count > self._top:
            yield f"  {count - self._top} more: {self._rest}"

    # Words

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        yield from self._wrapped(text, f"    {label:<6} ", " " * 11)

    def _path(self, file: str) -> str:
        directory = self._report.environment.directory.rstrip("/\\")
        packaged = _PACKAGES.match(file)
        if packaged:
            return clean(file[packaged.end() :])
        if directory and file.startswith((f"{directory}/", f"{directory}\\")):
            return clean(file[len(directory) + 1 :])
        return clean(file)


def _headline_parts(report: Report) -> list[str]:
    summary = report.summary
    if not summary.compiles and not summary.occurrences:
        if any(problem.fatal for problem in report.problems):
            return ["nothing was captured; the reason is below"]
        if summary.eager_frames:
            return ["nothing was compiled: Dynamo left every frame that it was given to eager"]
        return ["nothing was compiled: the program ran no code under torch.compile"]
    compiled = (
        f"{summary.graphs} {_plural(summary.graphs, 'graph')}, "
        f"{summary.ops} {_plural(summary.ops, 'op')} compiled"
    )
    digits = 1 if summary.compile_seconds >= 1 else 2
    seconds = f"{summary.compile_seconds:.{digits}f} s compiling"
    if not summary.sites and not summary.eager_frames:
        parts = ["no graph breaks", compiled, seconds]
    else:
        breaks = (
            f"{summary.causes} {_plural(summary.causes, 'cause')}, "
            f"{summary.sites} break {_plural(summary.sites, 'site')}"
        )
        if summary.eager_frames:
            frames = f"{summary.eager_frames} {_plural(summary.eager_frames, 'frame')}"
            breaks += f", {frames} ran entirely in eager"
        parts = [breaks, compiled, seconds]
    if summary.recompiles:
        parts.append(f"{summary.recompiles} {_plural(summary.recompiles, 'recompile')}")
    return parts


def _effect(cause: Cause) -> str:
    """What a break does, in words: `12 occurrences, cuts forward() in two`."""
    effects = [f"{cause.occurrences} {_plural(cause.occurrences, 'occurrence')}"]
    if cause.raised:
        effects.append("reaches the program as an error")
    if cause.eager_frames:
        effects.append(f"keeps {_names(cause.eager_frames)} in eager")
    cut = tuple(name for name in cause.frames if name not in cause.eager_frames)
    if cause.resumed and cut:
        effects.append(f"cuts {_names(cut)} in two" if len(cut) == 1 else f"cuts {_names(cut)}")
    if cause.cut:
        effects.append("leaves the rest of the function in eager")
    if cause.asked_for:
        effects.append("asked for")
    return ", ".join(effects)


def _names(functions: tuple[str, ...]) -> str:
    shown = [f"{_short_name(name)}()" for name in functions[:2]]
    more = len(functions) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(shown)


def _short_name(qualified: str) -> str:
    """`Model.forward`, or of a function inside another only its own name."""
    return clean(qualified.rsplit("<locals>.", 1)[-1])


def _pointer(site: Site, line: str, shown: str) -> str:
    """`^^^^` under the part of the line that broke, as the line is shown."""
    if site.column is None:
        return ""
    removed = len(clean(line)) - len(shown)
    before = clean(line[: site.column - 1])[removed:]
    end = site.end_column if site.end_line is None and site.end_column else len(line.rstrip()) + 1
    marked = clean(line[site.column - 1 : max(end - 1, site.column)])
    return " " * _cells(before) + "^" * max(1, _cells(marked))


def _cells(text: str) -> int:
    """How many columns a terminal uses for `text`."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rsplit(" ", 1)[0] + " …"


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
