"""The form of an explanation: the JSON schema that is sent, and reading what comes back."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from fullgraph.ai.errors import NoAnswerError
from fullgraph.ai.escapes import without_escapes

_TEXTS = ("cause", "why", "worth", "change", "escape", "snippet")
_LISTS = ("facts", "lines", "names", "settings")
# Without these there is no explanation.
_REQUIRED = ("cause", "why", "change")
_MOST_ITEMS = 50
_FENCE = re.compile(r"\A\s*```[\w-]*\n(.*?)\n?```\s*\Z", re.DOTALL)


class Answer(Struct, frozen=True):
    """An explanation of one break, in the words of a model. It has no control characters."""

    cause: str
    why: str
    change: str
    confidence: str = ""
    facts: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    category: str = ""
    snippet: str = ""
    worth: str = ""
    escape: str = ""


def _form() -> dict[str, Any]:
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    fields: dict[str, Any] = dict.fromkeys(_TEXTS, text)
    fields["confidence"] = {"type": "string", "enum": ["high", "medium", "low"]}
    fields |= dict.fromkeys(_LISTS, texts)
    fields["category"] = text
    return {
        "type": "object",
        "properties": fields,
        # OpenAI's strict schemas want all of them.
        "required": list(fields),
        "additionalProperties": False,
    }


FORM = _form()


def json_in(text: str, model: str) -> dict[str, Any]:
    """Return the JSON object in a model's answer, which may have a fence or words around it."""
    start = text.find("{")
    if start >= 0:
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(text[start:])
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    raise NoAnswerError(
        f"{model} did not answer in the form that was asked for; ask again, or ask another model"
    )


def read_answer(text: str, model: str) -> Answer:
    """Return the explanation in a model's answer; NoAnswerError if it has another form.

    Models take the form of lists and numbers lightly, so `41` counts as a line. An explanation that
    lacks its texts is none.
    """
    fields = json_in(text, model)
    for name in _REQUIRED:
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise NoAnswerError(
                f"{model} did not answer in the form that was asked for: `{name}` is missing; ask "
                "again, or ask another model"
            )
    values: dict[str, Any] = {name: _text(fields.get(name)) for name in (*_TEXTS, "category")}
    values |= {name: _texts(fields.get(name)) for name in _LISTS}
    values["confidence"] = _text(fields.get("confidence"))
    values["snippet"] = _without_fence(values["snippet"])
    return Answer(**values)


def _text(value: object) -> str:
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return without_escapes(str(value)).strip("\n")


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    found = (_text(each).strip() for each in items[:_MOST_ITEMS])
    return tuple(dict.fromkeys(each for each in found if each))


def _without_fence(text: str) -> str:
    found = _FENCE.match(text)
    return found[1] if found else text
