"""Parse the message of a graph break.

A message is a type on a line of its own, then `Explanation:`, any number of `Hint:` lines and a
`Developer debug context:`. A message has several breaks if another break happened while Dynamo
handled the first one.
"""

from __future__ import annotations

import re

from fullgraph.model.events import Reason

_NEXT = "*** While handling this graph break, another graph break occurred: ***"
_FIELD = re.compile(r"^  (Explanation|Hint|Developer debug context): ?", re.MULTILINE)
# torch adds a link, the user's stack and advice about environment variables below a message.
_TAIL = re.compile(
    r"^ ?For more details about this graph break, please visit: |^from user code:|"
    r"^Set TORCHDYNAMO_VERBOSE=1 ",
    re.MULTILINE,
)
# torch names the operator in which a break happened between the type and the fields.
_OPERATOR = "Higher Order Operator: "
# Some messages contain the repr of a large tensor; one screen is enough for a report.
_LONGEST = 4000


def parse_message(text: str) -> tuple[Reason, ...]:
    """Return the breaks in `text`, the first one first; other text is one break without fields."""
    reasons = tuple(_parse_one(part) for part in text.split(_NEXT) if part.strip())
    return reasons or (Reason(type=""),)


def _parse_one(text: str) -> Reason:
    tail = _TAIL.search(text)
    text = text[: tail.start()] if tail else text
    fields = list(_FIELD.finditer(text))
    head = text[: fields[0].start()] if fields else text
    explanation, context, hints = "", "", []
    ends = [*(match.start() for match in fields[1:]), len(text)]
    for match, end in zip(fields, ends, strict=False):
        value = _unindent(text[match.end() : end])
        if match[1] == "Explanation":
            explanation = value
        elif match[1] == "Hint":
            hints.append(value)
        else:
            context = value
    return Reason(
        type=_type_line(head, has_fields=bool(fields)),
        # Without fields, all that torch says is in the lines themselves.
        explanation=explanation if fields else _lines_below(head),
        hints=tuple(hint for hint in hints if hint),
        context=context,
    )


def _type_line(head: str, *, has_fields: bool) -> str:
    """Return the line above the fields; sentences about the instruction may precede it."""
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_OPERATOR)]
    if not lines:
        return ""
    return lines[-1] if has_fields else lines[0]


def _lines_below(head: str) -> str:
    """Return the text if it has more than one line; a single line is the type of the break."""
    text = _unindent(head)
    return text if "\n" in text else ""


def _unindent(value: str) -> str:
    lines = [line.strip() for line in value.strip().splitlines()]
    joined = "\n".join(lines).strip()
    return joined if len(joined) <= _LONGEST else joined[:_LONGEST] + " …"
