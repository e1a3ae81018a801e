"""What is known about a break, as numbered facts and blocks of data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct

from fullgraph.ai.fixer_facts import fixer_lines
from fullgraph.ai.places import Capture, Place
from fullgraph.ai.source_parts import source_parts
from fullgraph.catalog.parse import Example, read_example, read_variants
from fullgraph.model.report import BreakSite, Report, RootCause
from fullgraph.python_source import read_source
from fullgraph.registry.pages import Page
from fullgraph.registry.taxonomy import CATEGORIES, category_named, page_of

_MOST_FRAMES = 12
_MOST_VARIANTS = 2
_LONGEST_TEXT = 12_000


class Block(Struct, frozen=True):
    """Data with a title. `has_source` is true for lines of the user's files."""

    title: str
    text: str
    has_source: bool = False


class Subject(Struct, frozen=True):
    """What one question is about, and all that is known about it."""

    # `model.py:41`, an id, or `the message`.
    place: str
    id: str | None
    type: str
    category: str
    # The file of the break and the folder of its program; empty without a session.
    file: str
    folder: str
    torch: str
    facts: tuple[str, ...]
    blocks: tuple[Block, ...]
    # The files whose lines `--no-source` keeps back.
    files: tuple[str, ...] = ()
    # Folders below which paths are shown relative.
    folders: tuple[str, ...] = ()
    # What the user should know before the answer.
    notes: tuple[str, ...] = ()


def subject_of_break(
    place: Place, site: BreakSite, capture: Capture, page: Page | None, *, with_source: bool
) -> Subject:
    """Return what a session knows about one break."""
    environment = capture.report.environment
    notes = _notes(site, capture)
    facts = [f"The user asks about {place.text}."]
    facts += list(_break_facts(site, capture, with_source=with_source))
    if page is not None:
        facts += _page_facts(page)
    facts += notes
    blocks: list[Block] = []
    if with_source:
        shown = site.shown or site
        for part in source_parts(shown.file, shown.line, environment.directory):
            blocks.append(Block("source", f"{part.title}\n{part.text}", has_source=True))
        if not blocks and site.excerpt:
            lines = [f"{each.number} | {each.text.rstrip()}" for each in site.excerpt]
            text = "\n".join([f"around line {site.line} of {site.file}", *lines])
            blocks.append(Block("source", text, has_source=True))
    if isinstance(site, RootCause) and not notes:
        lines = fixer_lines(site, with_source=with_source)
        blocks.append(Block("what the fixers of fullgraph fix say", "\n".join(lines), True))
    blocks += _pages(site.id, site.category, page)
    return Subject(
        place=place.text,
        id=site.id,
        type=site.type,
        category=site.category,
        file=place.path,
        folder=environment.directory,
        torch=environment.torch,
        facts=tuple(facts),
        blocks=tuple(blocks),
        files=tuple({place.path, site.file, *(frame.file for frame in site.stack)}),
        folders=(environment.directory, *environment.package_folders),
        notes=tuple(notes),
    )


def subject_of_entry(page: Page, text: str = "") -> Subject:
    """Return what the registry knows about an entry; `text` is the message that it was found in."""
    torch = page.installed or page.release
    facts = [f"The installed torch is {torch}.", f"The break is {page.id}: {page.type}."]
    facts.append(f"Its category in fullgraph is {page.category}. {_known_categories()}")
    facts += _page_facts(page)
    blocks = []
    if text:
        facts.append("There is no session: nothing is known but the text that the user gives.")
        blocks.append(Block("text from the user", text[:_LONGEST_TEXT], has_source=True))
    else:
        facts.append("The user asks about the entry in general: there is no program to look at.")
    blocks += _pages(page.id, page.category, page)
    return Subject(
        place=page.id,
        id=page.id,
        type=page.type,
        category=page.category,
        file="",
        folder="",
        torch=torch,
        facts=tuple(facts),
        blocks=tuple(blocks),
        folders=(os.getcwd(),),
    )


def _break_facts(site: BreakSite, capture: Capture, *, with_source: bool) -> Iterator[str]:
    report = capture.report
    environment = report.environment
    yield f"The program ran with torch {environment.torch} and Python {environment.python}."
    name = f"{site.id}: {site.type}" if site.id else f"{site.type} (without an id)"
    yield f"The break is {name}."
    yield f"Its category in fullgraph is {site.category}. {_known_categories()}"
    column = f", column {site.column}" if site.column else ""
    yield f"It is at {site.file}:{site.line}{column}, in the function {site.function}."
    for frame, words in ((site.shown, "The nearest line of the user or of a library"),
                         (site.via, "The user's own line that leads there")):  # fmt: skip
        if frame is not None:
            yield f"{words} is {frame.file}:{frame.line} in {frame.function}."
    yield _rank(site, report)
    yield from _effects(site)
    yield f"Dynamo says: {_without_code(site.explanation, with_source)}"
    if site.context:
        yield f"Dynamo's context: {_without_code(site.context, with_source)}"
    if site.hints:
        yield f"Dynamo's hints: {' / '.join(site.hints)}"
    if site.stack:
        yield f"The call stack, innermost last: {_stack(site, with_source)}"
    yield from _cost(site, report)


def _rank(site: BreakSite, report: Report) -> str:
    if isinstance(site, RootCause):
        said = f"It is root cause {site.rank} of {len(report.causes)}."
        if site.user_requested:
            said += " The program itself requests it."
        if site.cascades:
            goes = ", ".join(f"{each.file}:{each.line}" for each in site.cascades[:5])
            said += f" These breaks go away with it: {goes}."
        return said
    cause = next((each for each in report.causes if each.key == site.cascade_of), None)
    where = f"{cause.type} at {cause.file}:{cause.line}" if cause else "another break"
    return f"It is no root cause: it goes away with {where}. {site.because}"


def _effects(site: BreakSite) -> Iterator[str]:
    parts = [
        (site.resumed, "split the function in two, and tracing resumed after the break"),
        (site.cut, "left the rest of the function in eager mode"),
        (site.skipped, "left the whole function in eager mode"),
        (site.raised, "were raised as an error, as under fullgraph=True"),
    ]
    shown = "; ".join(f"{number} {words}" for number, words in parts if number)
    compiled = ", ".join(site.frames)
    times = "once" if site.occurrences == 1 else f"{site.occurrences} times"
    yield f"It occurred {times}: {shown}. Dynamo was compiling {compiled}."
    if isinstance(site, RootCause) and site.skipped_frames:
        yield f"Because of it these run entirely in eager mode: {', '.join(site.skipped_frames)}."


def _stack(site: BreakSite, with_source: bool) -> str:
    frames = site.stack[-_MOST_FRAMES:]
    return " → ".join(
        f"{frame.function} at {frame.file}:{frame.line}"
        + (f" `{frame.code}`" if with_source and frame.code else "")
        for frame in frames
    )


def _cost(site: BreakSite, report: Report) -> Iterator[str]:
    if report.cost is None:
        yield "What it costs was not measured; fullgraph run --cost does that."
        return
    price = next((each for each in report.cost.causes if each.site == site.key), None)
    if price is None or price.price is None:
        why = price.reason if price is not None else report.cost.reason
        yield f"What it costs cannot be told: {why or 'nothing was measured for it'}."
        return
    yield (
        f"It costs at most {price.price.seconds * 1e6:.0f} µs of each call that it affects "
        f"({price.share:.0%} of all measured time), with {price.graphs:g} more graphs, "
        f"{price.operators or 0:g} operators in eager mode, {price.host_copies or 0:g} copies to "
        f"the host and {price.synchronizations or 0:g} synchronizations."
    )


def _page_facts(page: Page) -> Iterator[str]:
    fixable = {"yes": "can fix it", "sometimes": "can sometimes fix it", "no": "cannot fix it"}
    yield f"Users {fixable.get(page.fixable, page.fixable)}; the usual cost: {page.cost}."
    if page.eager_fails:
        yield "The same program is likely to fail in eager mode too."
    if page.live is False:
        yield f"The installed torch {page.installed} can no longer raise it."


def _known_categories() -> str:
    return f"The categories are: {', '.join(each.name for each in CATEGORIES)}."


def _pages(id_: str | None, category: str, page: Page | None) -> list[Block]:
    blocks = []
    if page is not None:
        advice = "\n".join(f"- {each.text} (from {each.source})" for each in page.how_to_fix)
        text = f"{page.type}\n\n{page.explanation}\n\nContext: {page.context}\n\n{advice}"
        blocks.append(Block(f"entry {page.id} of torch's registry", text))
    advice = category_named(category).advice
    blocks.append(Block(f"page of the category {category}", f"{advice}\n\n{page_of(category)}"))
    if id_ is not None and (example := read_example(id_)) is not None:
        examples = [example, *read_variants(id_)[:_MOST_VARIANTS]]
        blocks += [Block(f"example {each.key} of the catalog", _example(each)) for each in examples]
    return blocks


def _example(example: Example) -> str:
    parts = [example.how, f"Breaks:\n{example.breaks}"]
    parts += [f"{fix.kind} ({fix.safety}): {fix.why}\n{fix.source}" for fix in example.fixes]
    if example.instead:
        parts.append(f"Instead of a fix: {example.instead}")
    return "\n\n".join(part.strip() for part in parts)


def _notes(site: BreakSite, capture: Capture) -> list[str]:
    """Return what is not as it was when the session was captured."""
    shown = site.shown or site
    text = read_source(shown.file)
    if text is None:
        return []
    captured = next((e.text for e in site.excerpt if e.number == site.line), None)
    if site.shown is not None:
        captured = site.shown.code or None
    lines = text.split("\n")
    now = lines[shown.line - 1] if shown.line <= len(lines) else ""
    if captured is None or captured.strip() == now.strip():
        return []
    when = datetime.fromtimestamp(capture.header.started).strftime("%Y-%m-%d %H:%M")
    file = os.path.basename(shown.file)
    return [f"{file} was changed after it was captured ({when}): lines may have moved."]


# Without source.

_CODE_IN_MESSAGE = re.compile(r"(,? ?code: )[^\n]*")
_FRAME_IN_MESSAGE = re.compile(r'^(\s*File "[^"\n]*", line \d+[^\n]*)\n(?!\s*File ")[^\n]+', re.M)
# Such a line is no sign of a certain file.
_COMMON_LINE = re.compile(r"\W*|[\w.]+[:,(]?|(?:import|from) [\w. ,]+|@[\w.]+")


def _without_code(text: str, with_source: bool) -> str:
    return text if with_source else strip_code(text)


def strip_code(text: str) -> str:
    """Return a message of torch without the lines of source that it quotes."""
    text = _CODE_IN_MESSAGE.sub(r"\1(left out)", text)
    return _FRAME_IN_MESSAGE.sub(r"\1", text)


def strip_lines(text: str, files: Iterable[str]) -> str:
    """Return text without any line of some files, wherever it stands."""
    lines: set[str] = set()
    for file in files:
        lines |= {each.strip() for each in (read_source(file) or "").split("\n")}
    for line in sorted(lines, key=len, reverse=True):
        if not _COMMON_LINE.fullmatch(line):
            text = text.replace(line, "(left out)")
    return text
