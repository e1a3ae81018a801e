"""Explanations for a terminal or a file: what the model says, then what the checks say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal, clean

if TYPE_CHECKING:
    from fullgraph.ai.answer import Answer
    from fullgraph.ai.asking import Usage
    from fullgraph.ai.checks import Check
    from fullgraph.ai.explain import Explanation

# The texts of an answer in the order of the form, and what they are called at the left.
LABELS = {
    "cause": "cause",
    "why": "why",
    "worth": "worth it",
    "change": "change",
    "escape": "escape",
}


def render(
    explanations: Sequence[Explanation], *, width: int = 80, color: bool = False, **_: object
) -> str:
    """Return the explanations, one below the other."""
    terminal = Terminal(width, color)
    lines: list[str] = []
    for explanation in explanations:
        if lines:
            lines.append("")
        lines += heading(explanation.place, explanation.id, explanation.type, terminal)
        for note in explanation.notes:
            lines += terminal.labelled("note", note)
        lines += answer_lines(explanation.answer, terminal)
        lines += below(explanation, terminal)
    return joined(lines)


def heading(place: str, identifier: str | None, type_: str, terminal: Terminal) -> list[str]:
    """Return the line that says which break this is about."""
    about = "  ".join(each for each in (identifier, type_) if each and each != place)
    first, *rest = terminal.wrapped(f"{place}  {about}", "", " " * 4)
    return [terminal.style(first, "bold"), *rest]


def answer_lines(answer: Answer, terminal: Terminal) -> list[str]:
    """Return the texts of an answer."""
    lines: list[str] = []
    for name, label in LABELS.items():
        text: str = getattr(answer, name)
        if text.strip():
            lines += terminal.labelled(label, text.strip())
    if answer.snippet.strip():
        lines += ["", *snippet_lines(answer.snippet), ""]
    return lines


def snippet_lines(snippet: str) -> list[str]:
    """Return the lines of a snippet, indented."""
    return [f"    {line}" for line in clean(snippet).strip("\n").split("\n")]


def below(explanation: Explanation, terminal: Terminal) -> list[str]:
    """Return what stands below the texts of an answer: how sure it is, checks, tokens and cost."""
    answer = explanation.answer
    lines: list[str] = []
    sure = answer.confidence or "the model does not say"
    rests = f"; it rests on {', '.join(answer.facts)}" if answer.facts else ""
    lines += terminal.labelled("sure", f"{sure}{rests}")
    lines += check_lines(explanation.checks, terminal)
    return [*lines, *usage_lines(explanation.usage, terminal)]


def check_lines(checks: Sequence[Check], terminal: Terminal) -> list[str]:
    """Return what the checks say: wrong claims in full, the others in one line each kind."""
    wrong = [each for each in checks if each.ok is False]
    right = [each for each in checks if each.ok]
    unknown = [each for each in checks if each.ok is None]
    if not checks:
        return terminal.labelled("checked", "the answer makes no claim that can be checked")
    if wrong:
        count = "1 claim is wrong" if len(wrong) == 1 else f"{len(wrong)} claims are wrong"
        said = f"{count}, {len(right)} right" if right else count
    else:
        said = f"{len(right)} of {len(checks)} claims are right, none is wrong"
    label = terminal.labelled("checked", said)
    lines = [terminal.style(line, "red" if wrong else "green") for line in label]
    for each in wrong:
        lines += terminal.labelled("", f"wrong: {each.kind} {each.claim}: {each.why}")
    if right:
        shown = ", ".join(f"{each.kind} {each.claim}" for each in right)
        lines += terminal.labelled("", f"right: {shown}")
    for each in unknown:
        lines += terminal.labelled("", f"not checked: {each.kind} {each.claim}: {each.why}")
    rest = "The texts themselves are not checked: only fullgraph fix runs a change and compares."
    return [*lines, *terminal.labelled("", rest)]


def usage_lines(usage: Usage, terminal: Terminal) -> list[str]:
    """Return tokens and cost."""
    cost = "price unknown" if usage.cost is None else f"${usage.cost:.4f}"
    requests = f" in {usage.requests} requests" if usage.requests > 1 else ""
    return terminal.labelled(
        "used",
        f"{usage.input_tokens} tokens in, {usage.output_tokens} out{requests}, {cost}, "
        f"{usage.seconds:.1f} s ({usage.model})",
    )
