"""Explanations of breaks by a model, each with the checks of what it claims."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from fullgraph.ai.answer import Answer, read_answer
from fullgraph.ai.asking import Questions, Usage
from fullgraph.ai.checks import Check, run_checks
from fullgraph.ai.errors import SetupError
from fullgraph.ai.explain_prompt import explain_prompt
from fullgraph.ai.facts import Subject, subject_of_break, subject_of_entry
from fullgraph.ai.places import breaks_at, place_in, read_capture
from fullgraph.ai.protocol import OnText
from fullgraph.errors import RegistryError
from fullgraph.registry.pages import Library, Page

FORMAT = 1


class Explanation(Struct, frozen=True):
    """The explanation of one break. `checks` are those claims that can be looked at."""

    place: str
    id: str | None
    type: str
    answer: Answer
    checks: tuple[Check, ...]
    usage: Usage
    notes: tuple[str, ...] = ()


def subjects_of(text: str, session: str | None, *, with_source: bool) -> list[Subject]:
    """Return what a question is about: the breaks on a line, or the entry of an id or a message."""
    place = place_in(text)
    if place is not None:
        capture = read_capture(place, session)
        library = Library()
        return [
            subject_of_break(place, site, capture, _page(library, site.id), with_source=with_source)
            for site in breaks_at(place, capture)
        ]
    if session is not None:
        raise SetupError("--session is for a place; name it as FILE:LINE")
    return [_subject_of_text(text)]


def _page(library: Library, identifier: str | None) -> Page | None:
    try:
        return library.page(identifier) if identifier is not None else None
    except RegistryError:
        # The session may come from another release.
        return None


def _subject_of_text(text: str) -> Subject:
    from fullgraph.registry.entries import identifier_in
    from fullgraph.registry.match import Matcher

    library = Library()
    identifier = identifier_in(text)
    if identifier is not None:
        return subject_of_entry(library.page(identifier))
    found = Matcher(library.main.entries).find(text)
    if not found:
        raise SetupError(
            "explain --ai needs FILE:LINE of a break, an id such as GB0124, or a message of torch; "
            "this text is none of them"
        )
    message = " ".join(text.split()) if len(found) == 1 else ""
    subject = subject_of_entry(library.page(found[0].candidates[0].id, message), text)
    others = dict.fromkeys(each.candidates[0].id for each in found[1:])
    others.pop(subject.id or "", None)
    if not others:
        return subject
    note = f"the text has further breaks: {', '.join(others)}; ask about one by its id"
    return replace(subject, notes=(note,))


def explain(
    subject: Subject,
    questions: Questions,
    *,
    with_source: bool,
    on_text: OnText = lambda text: None,
    before_checks: Callable[[], None] = lambda: None,
) -> Explanation:
    """Ask for the explanation of one break, and check it.

    The checks may take a moment: some names are looked up in torch itself.
    """
    reply, used = questions.ask(explain_prompt(subject, with_source=with_source), on_text)
    answer = read_answer(reply.text, used.model)
    before_checks()
    checks = run_checks(answer, subject)
    return Explanation(subject.place, subject.id, subject.type, answer, checks, used, subject.notes)
