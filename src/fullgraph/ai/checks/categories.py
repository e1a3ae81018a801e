"""The category and the ids that the answer names: whether they exist and fit the break."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, CheckContext, prose
from fullgraph.registry.taxonomy import is_category

ORDER = 40

_ID = re.compile(r"\bGB\d{4}\b")


def check(answer: Answer, context: CheckContext) -> Iterator[Check]:
    """Yield checks for the category and for each id."""
    if answer.category:
        yield _check_category(answer.category, context)
    for identifier in dict.fromkeys(_ID.findall(prose(answer))):
        yield _check_id(identifier, context)


def _check_category(name: str, context: CheckContext) -> Check:
    subject = context.subject
    if not is_category(name):
        return Check("category", name, False, "fullgraph has no such category")
    break_ = subject.id or "the break"
    if name == subject.category:
        return Check("category", name, True, f"{break_} belongs to it")
    return Check("category", name, False, f"{break_} belongs to {subject.category}")


def _check_id(identifier: str, context: CheckContext) -> Check:
    subject = context.subject
    if identifier == subject.id:
        return Check("id", identifier, True, "it is the id of this break")
    from fullgraph.registry.sources import all_histories

    if all_histories().history(identifier) is None:
        return Check("id", identifier, False, "no release of torch has this id")
    return Check("id", identifier, None, f"it exists, and this break is {subject.id or 'another'}")
