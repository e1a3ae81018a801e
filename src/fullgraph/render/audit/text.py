"""An audit of a registry for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullgraph.registry.audit import Audit, AuditedEntry
from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal

TOP = 12


def render(
    audit: Audit,
    *,
    width: int = 80,
    color: bool = False,
    is_terminal: bool = False,
    top: int | None = TOP,
    **_: object,
) -> str:
    """Return one list per kind of missing information; `top` is the length of a list.

    None shows all entries.
    """
    return joined(_lines(audit, Terminal(width, color, cut=is_terminal), top))


def _lines(audit: Audit, terminal: Terminal, top: int | None) -> Iterator[str]:
    live = "" if audit.live is None else f", {audit.live} of them live"
    yield f"torch {audit.release}: {audit.entries} entries{live}"
    if audit.calls_without_entry is None:
        yield "live entries are unknown: this registry has no torch source code"
    for title, rows in _sections(audit):
        yield ""
        yield terminal.style(f"{len(rows):>4}  {title}", "bold")
        shown = rows[:top]
        yield from (terminal.clipped(f"      {row}") for row in shown)
        if len(rows) > len(shown):
            yield f"      {len(rows) - len(shown)} more with --all"


def _sections(audit: Audit) -> Iterator[tuple[str, list[str]]]:
    calls = [
        f"{call.file}:{call.line}  {call.function}()  {call.type}"
        for call in audit.calls_without_entry or ()
    ]
    yield "calls that raise a break without an entry", calls
    yield "entries that no call raises", _entries(audit.without_call_site or ())
    yield "entries without a hint", _entries(audit.without_hints)
    yield "entries without an explanation", _entries(audit.without_explanation)
    yield "texts that are known only at run time", _entries(audit.unevaluated)
    yield "types that several entries have or had", _entries(audit.shared_types)


def _entries(entries: Iterable[AuditedEntry]) -> list[str]:
    return [
        f"{each.id}  {each.type}" + (f"  ({each.detail})" if each.detail else "")
        for each in entries
    ]
