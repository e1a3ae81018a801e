"""Lines about a group of recompiles, for every report that lists groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fullgraph.model.changes import change_title, verb_for
from fullgraph.model.events import Code, Frame
from fullgraph.model.report import RecompileGroup
from fullgraph.render._strings import printable_strings
from fullgraph.terminal import Terminal, one_line

# How many values a terminal shows: the first and the newest ones.
_FIRST_VALUES = 6
_LAST_VALUES = 2
# How many other calls a terminal shows.
_MOST_CALLS = 5
_ARROW = " → "
# A line is not broken here.
_KEPT_SPACE = "\xa0"
_IN_EAGER_MODE = "new inputs run in eager mode"
_RAISES = "which raises an error"
# What a program writes somewhere else than in the call.
_WRITTEN = frozenset({"attribute", "parameter", "global", "default", "closure"})

Place = Callable[[str, int], str]


class GroupWriter:
    """Writes groups of recompiles; `place` turns a file and a line into what is shown."""

    def __init__(self, terminal: Terminal, place: Place) -> None:
        self._terminal = terminal
        self._place = place

    def lines(self, group: RecompileGroup, number: int) -> Iterator[str]:
        """Yield the lines of a group."""
        group = printable_strings(group)
        yield from self._heading(group, number)
        yield from self._labelled("values", self._values(group.values))
        yield from self._called(group)
        yield from self._line("bound", group.bound_at)
        yield from self._line("written", group.written_at)
        if group.written_at is None and group.place in _WRITTEN:
            yield from self._labelled("written", "not found")
        yield from self._line("torch", group.specialized_at)
        yield from self._labelled("calls", describe_calls(group))
        for note in notes_of(group):
            yield from self._labelled("note", note)
        if group.bounded:
            yield from self._labelled("do", "nothing: these recompiles are right and bounded")

    def _heading(self, group: RecompileGroup, number: int) -> Iterator[str]:
        start = f"{number:>2}  "
        title = headline(group)
        code = compiled_code(group)[0]
        place = self._place(code.file, code.line)
        where = f"{describe_function(group)}  {place}"
        counts = describe_counts(group)
        style = self._terminal.style
        if len(start) + len(title) + len(where) + len(counts) + 4 <= self._terminal.width:
            yield f"{style(f'{start}{title}', 'bold')}  {where}  {counts}"
            return
        for line in self._terminal.wrapped(title, start, " " * len(start)):
            yield style(line, "bold")
        if 4 + len(where) + 2 + len(counts) <= self._terminal.width:
            yield f"    {where}  {counts}"
            return
        yield from self._terminal.wrapped(where, "    ", "    ")
        yield from self._terminal.wrapped(counts, "    ", "    ")

    def _values(self, values: Sequence[str]) -> str:
        shown = [one_line(value).replace(" ", _KEPT_SPACE) for value in values]
        if self._terminal.cut and len(shown) > _FIRST_VALUES + _LAST_VALUES + 1:
            shown = [*shown[:_FIRST_VALUES], "…", *shown[-_LAST_VALUES:]]
        return _ARROW.join(shown)

    def _called(self, group: RecompileGroup) -> Iterator[str]:
        """Yield the call; the places of others are cut to their lines in the same file."""
        yield from self._line("called", group.called_at)
        if group.called_at is not None and group.also_called_at:
            places = [
                f":{frame.line}"
                if frame.file == group.called_at.file
                else self._place(frame.file, frame.line)
                for frame in group.also_called_at
            ]
            shown = places[:_MOST_CALLS] if self._terminal.cut else places
            more = [f"{len(places) - len(shown)} more"] if len(shown) < len(places) else []
            yield from self._labelled("", f"also {', '.join([*dict.fromkeys(shown), *more])}")

    def _line(self, label: str, frame: Frame | None) -> Iterator[str]:
        if frame is not None:
            text = f"{self._place(frame.file, frame.line)}  {one_line(frame.code)}"
            yield from self._labelled(label, text)

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        if text:
            for line in self._terminal.wrapped(text, f"    {label:<8}", " " * 12):
                yield line.replace(_KEPT_SPACE, " ")


def headline(group: RecompileGroup) -> str:
    """Return what changes, and `dynamic=` if torch.compile was given it."""
    what = one_line(change_title(group))
    title = f"{what} {verb_for(what)}"
    dynamic = next((note for note in group.notes if note.startswith("dynamic=")), None)
    return f"{title}, {one_line(dynamic)}" if dynamic else title


def notes_of(group: RecompileGroup) -> list[str]:
    """Return the notes that the headline does not have."""
    return [one_line(note) for note in group.notes if not note.startswith("dynamic=")]


def describe_function(group: RecompileGroup) -> str:
    """Return the compiled function, and the line where it resumed after a graph break."""
    names = [_short_name(each) for each in compiled_code(group)]
    text = ", ".join(dict.fromkeys(f"{name}()" for name in names))
    return f"{text} after line {group.resumed_at}" if group.resumed_at else text


def compiled_code(group: RecompileGroup) -> tuple[Code, ...]:
    """Return the function of a group, or what torch's wrapper was compiled for."""
    function = Code(group.file, group.line, group.function, group.qualified)
    return group.wrapped or (function,)


def _short_name(code: Code) -> str:
    """Return the name of a function with its class."""
    *owners, name = one_line(code.qualified or code.function).split(".")
    owners = owners[-1:] if owners and owners[-1] != "<locals>" else []
    return ".".join([*owners, name])


def describe_counts(group: RecompileGroup) -> str:
    """Return how often the function was recompiled, for how long, and the limit."""
    parts: list[str] = []
    if group.recompiles:
        digits = 1 if group.compile_seconds >= 1 else 2
        recompiles = "1 recompile" if group.recompiles == 1 else f"{group.recompiles} recompiles"
        parts = [recompiles, f"{group.compile_seconds:.{digits}f} s compiling"]
    if group.limit:
        then = "then " if group.recompiles else ""
        limit = f"{one_line(group.limit)} ({group.limit_value})"
        effect = _RAISES if group.limit_raises else _IN_EAGER_MODE
        parts.append(f"{then}{limit} is reached, {effect}")
    return ", ".join(parts)


def describe_calls(group: RecompileGroup) -> str:
    """Return what a limit did to how many calls; empty if to none or calls were not captured."""
    calls = group.calls
    if calls is None:
        return ""
    of_all = f"of {calls.total} {'call' if calls.total == 1 else 'calls'}"
    parts = []
    if calls.raised:
        text = f"{calls.raised} {of_all} raised an error"
        parts.append(f"{text}, the first was call {calls.first_raised}")
    if calls.eager:
        text = f"{calls.eager} {of_all} ran in eager mode"
        parts.append(f"{text}, the first was call {calls.first_eager}")
    return "; ".join(parts)
