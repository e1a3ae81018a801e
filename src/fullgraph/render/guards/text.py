"""Guards for a terminal: per compiled function, the most expensive groups of guards first."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.events import Frame
from fullgraph.model.guard_report import GuardedCompile, GuardedFunction, GuardGroup, GuardsReport
from fullgraph.model.owners import display_path
from fullgraph.render._dynamic_sizes import size_lines
from fullgraph.render._lines import joined
from fullgraph.render._strings import printable_strings
from fullgraph.render.guards._words import advice_for, what_is_checked
from fullgraph.render.report._phrases import count, short_name
from fullgraph.terminal import Terminal, one_line

_TOP_FUNCTIONS = 10
_TOP_GROUPS = 8
_TOP_SIZES = 10
_EXAMPLES = 3
# The width of the columns before the description of a group.
_NUMBERS = 26


def render(
    report: GuardsReport,
    *,
    width: int = 80,
    color: bool = False,
    show_all: bool = False,
    **_: object,
) -> str:
    """Return the guards as lines that fit into `width`; with `show_all`, every single guard."""
    writer = _Writer(printable_strings(report), Terminal(width, color), show_all)
    return joined(writer.lines())


def microseconds(seconds: float | None) -> str:
    """Return `18 µs`, with a decimal for small numbers; `? µs` for an unknown time."""
    if seconds is None:
        return "? µs"
    value = seconds * 1e6
    return f"{value:.0f} µs" if value >= 9.95 else f"{value:.1f} µs"


class _Writer:
    def __init__(self, report: GuardsReport, terminal: Terminal, show_all: bool) -> None:
        self._report = report
        self._terminal = terminal
        self._show_all = show_all

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        functions = self._report.functions
        if not functions:
            yield f"fullgraph  {self._why_nothing()}"
            yield from self._problems()
            return
        guards = sum(each.guards for function in functions for each in function.compiles)
        headline = f"{count(len(functions), 'compiled function')} · {count(guards, 'guard')}"
        yield self._terminal.style(f"fullgraph  {headline}", "bold")
        shown = functions if self._show_all else functions[:_TOP_FUNCTIONS]
        for number, function in enumerate(shown, start=1):
            yield from self._function(number, function)
        yield from self._more(len(functions) - len(shown), "function")
        yield from self._dynamic_sizes()
        yield from self._problems()

    def _why_nothing(self) -> str:
        if any(problem.fatal for problem in self._report.problems):
            return "nothing was captured; the reason is below"
        return "nothing was compiled, so there are no guards"

    def _problems(self) -> Iterator[str]:
        if self._report.problems:
            yield ""
            yield self._terminal.style("not captured", "bold")
        for problem in self._report.problems:
            yield from self._terminal.wrapped(problem.message, "  ", "      ")

    def _function(self, number: int, function: GuardedFunction) -> Iterator[str]:
        name = f"{short_name(function.qualified)}()"
        if function.resumed_at:
            name += f" after line {function.resumed_at}"
        yield ""
        place = self._terminal.style(self._place(function), "cyan")
        yield f"{number:>2}  {self._terminal.style(name, 'bold')}  {place}"
        if self._show_all:
            for compiled in function.compiles:
                yield from self._compile(compiled)
            return
        costliest = function.costliest
        if costliest is not None:
            yield from self._compile(costliest)
        others = [each for each in function.compiles if each is not costliest]
        if others:
            yield from self._terminal.wrapped(_others(others), "    ", "    ")

    def _compile(self, compiled: GuardedCompile) -> Iterator[str]:
        text = f"[{one_line(compiled.compile)}] {count(compiled.guards, 'guard')}"
        if compiled.seconds is None:
            text += ", which could not be timed"
        else:
            text += f", {microseconds(compiled.seconds)} per call"
        if compiled.cold_seconds is not None:
            text += f" ({microseconds(compiled.cold_seconds)} if the caches are cold)"
        yield from self._terminal.wrapped(text, "    ", "    ")
        shown = compiled.groups if self._show_all else compiled.groups[:_TOP_GROUPS]
        for group in shown:
            yield from self._group(group, compiled.seconds)
        hidden = compiled.groups[len(shown) :]
        yield from self._more(sum(len(group.guards) for group in hidden), "guard", " " * 6)
        advice = advice_for(compiled)
        if advice:
            yield from self._terminal.wrapped(advice, "    note   ", " " * 11)

    def _group(self, group: GuardGroup, total: float | None) -> Iterator[str]:
        share = f"{(group.seconds or 0.0) / total:.0%}" if total else ""
        cost = microseconds(group.seconds)
        numbers = f"{cost:>12} {share:>4} {len(group.guards):>6}×"
        what = what_is_checked(group.kind, group.place)
        yield from self._terminal.wrapped(what, f"{numbers:<{_NUMBERS}}", " " * _NUMBERS)
        if self._show_all:
            yield from self._every_guard(group)
            return
        if group.place != "torch":
            names = [one_line(guard.name) for guard in group.guards[:_EXAMPLES]]
            more = ", …" if len(group.guards) > len(names) else ""
            indent = " " * (_NUMBERS + 2)
            text = ", ".join(dict.fromkeys(names)) + more
            for line in self._terminal.wrapped(text, indent, indent):
                yield self._terminal.style(line, "dim")

    def _every_guard(self, group: GuardGroup) -> Iterator[str]:
        for guard in group.guards:
            text = f"{microseconds(guard.seconds)}  {one_line(guard.name)}  {one_line(guard.text)}"
            yield f"{' ' * (_NUMBERS + 2)}{text}"

    def _dynamic_sizes(self) -> Iterator[str]:
        sizes = self._report.dynamic_sizes
        if sizes:
            yield ""
            yield self._terminal.style("dynamic sizes", "bold")
        shown = sizes if self._show_all else sizes[:_TOP_SIZES]
        for size in shown:
            yield from size_lines(size, self._terminal, self._place)
        yield from self._more(len(sizes) - len(shown), "size", "  ")

    def _more(self, hidden: int, noun: str, indent: str = "") -> Iterator[str]:
        if hidden > 0:
            yield f"{indent}{count(hidden, f'more {noun}')}: --all shows them"

    def _place(self, function: GuardedFunction | Frame) -> str:
        environment = self._report.environment
        path = display_path(function.file, [environment.directory], environment.package_folders)
        return f"{one_line(path)}:{function.line}"


def _others(compiles: list[GuardedCompile]) -> str:
    """Return the other compiles of a function, of which a call may check several."""
    listed = ", ".join(
        f"[{one_line(each.compile)}] {each.guards} guards, {microseconds(each.seconds)}"
        for each in compiles[:_EXAMPLES]
    )
    more = ", …" if len(compiles) > _EXAMPLES else ""
    return f"also compiled: {listed}{more}; a call checks them until one fits"
