"""Lines that the answer names: whether the file has them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, CheckContext, prose
from fullgraph.python_source import read_source, split_lines

ORDER = 10

_IN_PROSE = re.compile(
    r"(?<![\w./-])([\w./\\-]+\.py):(\d+)|\blines? (\d+)(?:\s*(?:-|–|to|and)\s*(\d+))?"
)
_CLAIM = re.compile(
    r"(?:(?P<file>.+?):)?\s*(?:[Ll]ines?\s*)?(?P<first>\d+)(?:\s*[-–]\s*(?P<last>\d+))?"
)


def check(answer: Answer, context: CheckContext) -> Iterator[Check]:
    """Yield a check for each line that the answer names."""
    for claim in [*answer.lines, *_in_prose(answer)]:
        found = _CLAIM.fullmatch(claim)
        if found is None:
            yield Check("line", claim, None, "this names no line")
            continue
        for number in filter(None, (found["first"], found["last"])):
            file = found["file"] or os.path.basename(context.subject.file)
            yield _check_line(file, int(number), context)


def _in_prose(answer: Answer) -> Iterator[str]:
    for file, line, first, last in _IN_PROSE.findall(prose(answer)):
        if line:
            yield f"{file}:{line}"
        else:
            yield from filter(None, (first, last))


def _check_line(file: str, line: int, context: CheckContext) -> Check:
    claim = f"{file}:{line}" if file else f"line {line}"
    if not context.subject.file:
        return Check("line", claim, None, "there is no session, so no file to look into")
    path = _path(file, context)
    text = read_source(path) if path else None
    if text is None:
        return Check("line", claim, False, f"there is no file {file} that can be read")
    lines = split_lines(text)
    if not 1 <= line <= len(lines):
        return Check("line", claim, False, f"{file} has {len(lines)} lines")
    if not lines[line - 1].strip():
        return Check("line", claim, False, f"line {line} of {file} is empty")
    return Check("line", claim, True, f"{file} has this line")


def _path(file: str, context: CheckContext) -> str | None:
    """Return the path of a file that is named in the way in which the facts name it."""
    subject = context.subject
    if os.path.basename(subject.file) == file:
        return subject.file
    tried = [os.path.join(folder, file) for folder in subject.folders]
    return next((path for path in tried if os.path.isfile(path)), None)
