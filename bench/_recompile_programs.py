"""The programs in `recompile_programs/`: what their headers expect and what a report lacks."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("recompile_programs")
_ANY = "*"
_LINES = ("called_at", "bound_at", "written_at")


@dataclass(frozen=True)
class Program:
    """One program with the TOML block of its docstring."""

    path: Path
    more_calls: tuple[str, ...]
    groups: tuple[dict[str, Any], ...]

    @property
    def remedy(self) -> str:
        """Return what is expected of the remedies of its first group."""
        return str(self.groups[0]["remedy"]) if self.groups else "none"


def header(path: Path) -> dict[str, Any]:
    """Return the TOML block of a program's docstring: all but its first paragraph."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return tomllib.loads(docstring.partition("\n\n")[2])


def program(path: Path) -> Program:
    """Return a program with what its header expects."""
    facts = header(path)
    return Program(path, tuple(facts.get("more_calls", ())), tuple(facts.get("groups", ())))


def matched(program: Program, advice: list[dict[str, Any]]) -> list[int | None]:
    """Return the index of the reported group for each expected one; None if there is none."""
    left = dict(enumerate(each["group"] for each in advice))
    found: list[int | None] = []
    for expected in program.groups:
        same = [i for i, group in left.items() if _is_same(expected, group)]
        found.append(same[0] if same else None)
        if same:
            del left[same[0]]
    return found


def _is_same(expected: dict[str, Any], group: dict[str, Any]) -> bool:
    return all(
        _fits(expected[field], group[field])
        for field in ("kind", "place", "name", "dim")
        if field in expected
    )


def wrong_facts(expected: dict[str, Any], group: dict[str, Any]) -> Iterator[str]:
    """Yield the facts of a reported group that are not the expected ones, apart from lines."""
    expected = {"refused": 0, "limit": None, **expected}
    for field in ("recompiles", "refused", "limit", "bounded"):
        if field in expected and group[field] != expected[field]:
            yield f"{field} {group[field]!r}, not {expected[field]!r}"
    values = [_plain(value) for value in group["values"]]
    if "values" in expected and not _fit_values(expected, values):
        yield f"values {' → '.join(values)}, not {' → '.join(expected['values'])}"
    if "calls" in expected:
        yield from _wrong_calls(expected["calls"], group["calls"])


def wrong_lines(expected: dict[str, Any], group: dict[str, Any], program: Path) -> Iterator[str]:
    """Yield the user's lines of a group that are not the expected ones."""
    lines = program.read_text(encoding="utf-8").splitlines()
    for field in _LINES:
        frame = group[field]
        content = lines[frame["line"] - 1].strip() if _is_in(frame, program, lines) else None
        if field in expected and not _fits(expected[field], content):
            shown = content if content is not None else frame and f"{frame['file']}:{frame['line']}"
            yield f"{field} {shown!r}, not {expected[field]!r}"


def _is_in(frame: dict[str, Any] | None, program: Path, lines: list[str]) -> bool:
    if frame is None:
        return False
    return Path(frame["file"]).name == program.name and 0 < frame["line"] <= len(lines)


def _fits(expected: Any, found: Any) -> bool:
    """Return whether a value is the expected one, or one of a list of them."""
    allowed = expected if isinstance(expected, list) else [expected]
    return _ANY in allowed or found in allowed


def _fit_values(expected: dict[str, Any], found: list[str]) -> bool:
    """Return whether the values fit; that which a limit refused may be left out."""
    wanted = expected["values"]
    lengths = {len(wanted), len(wanted) - bool(expected["refused"])}
    return len(found) in lengths and all(
        _fits(value, text) for value, text in zip(wanted, found, strict=False)
    )


def _plain(value: str) -> str:
    """Return a value without the module of a dtype and the quotes of a string."""
    return value.removeprefix("torch.").strip("'\"")


def _wrong_calls(expected: dict[str, Any], found: dict[str, Any] | None) -> Iterator[str]:
    if found is None:
        yield "calls were not captured"
        return
    names = {"total": "total", "eager": "eager", "first": "first_eager"}
    for name, field in names.items():
        if name in expected and not _fits(expected[name], found[field]):
            yield f"calls: {name} {found[field]}, not {expected[name]}"
