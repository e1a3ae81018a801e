"""The options of commands that ask a language model, and `fullgraph explain --ai`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fullgraph.commands._output import deliver, window
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.ai.asking import Questions
    from fullgraph.ai.explain import Explanation
    from fullgraph.ai.facts import Subject

_Command = Callable[..., Any]


def model_option(command: _Command) -> _Command:
    """Add `--model`."""
    return click.option(
        "--model",
        metavar="PROVIDER:NAME",
        help="The model to ask, such as google:gemini-2.5-flash; FULLGRAPH_MODEL by default.",
    )(command)


def limit_options(command: _Command) -> _Command:
    """Add `--timeout`, `--max-tokens` and `--max-cost`."""
    for option in (
        click.option(
            "--max-cost",
            type=click.FloatRange(min=0),
            metavar="DOLLARS",
            help="Ask nothing that could cost more; no limit by default.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=1),
            default=8000,
            show_default=True,
            metavar="N",
            help="Tokens of one answer at most.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=120.0,
            show_default=True,
            metavar="SECONDS",
            help="Time for one answer, all tries included.",
        ),
    ):
        command = option(command)
    return command


def explain_options(command: _Command) -> _Command:
    """Add `--ai` and the options that belong to it."""
    command = limit_options(command)
    for option in (
        click.option("-o", "--output", metavar="FILE", help="With --ai: write only to FILE."),
        click.option(
            "--no-source", is_flag=True, help="With --ai: send no line of any of your files."
        ),
        click.option(
            "--show-prompt",
            is_flag=True,
            help="With --ai: show what would be sent, and send nothing. Needs no key.",
        ),
        click.option(
            "--session",
            metavar="PATH",
            help="With --ai: the session to look FILE:LINE up in; the newest one of this folder by "
            "default.",
        ),
    ):
        command = option(command)
    command = model_option(command)
    return click.option(
        "--ai",
        "with_model",
        is_flag=True,
        help="Ask a language model about FILE:LINE of a captured break, an id or a message. The "
        "options below belong to it.",
    )(command)


def refuse_without_ai(context: click.Context, names: tuple[str, ...]) -> None:
    """Raise an error if an option was given that only `--ai` uses."""
    from click.core import ParameterSource

    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
            raise FullgraphError(f"{option} needs --ai; see fullgraph explain --help")


@contextmanager
def ends_with_130() -> Iterator[None]:
    """End the process with code 130 and one line if Ctrl-C is pressed."""
    try:
        yield
    except KeyboardInterrupt:
        # The terminal has written ^C into the line.
        click.echo("\n" if sys.stderr.isatty() else "", nl=False, err=True)
        click.echo("fullgraph: interrupted", err=True)
        sys.exit(130)


def open_questions(
    model: str | None, timeout: float, max_tokens: int, max_cost: float | None
) -> Questions:
    """Return what asks the chosen model, within limits; failures between tries go to stderr."""
    from fullgraph.ai.asking import Limits, Questions
    from fullgraph.ai.providers import open_model
    from fullgraph.ai.selection import select

    def notify(line: str) -> None:
        # In place of what is waited for.
        start = "\r\x1b[K" if sys.stderr.isatty() else ""
        click.echo(f"{start}fullgraph: {line}", err=True)

    limits = Limits(timeout, max_tokens, max_cost)
    return Questions(select(model), open_model, limits, notify)


def explain_with_model(
    text: str,
    *,
    model: str | None,
    session: str | None,
    show_prompt: bool,
    no_source: bool,
    output: str | None,
    format_: str,
    timeout: float,
    max_tokens: int,
    max_cost: float | None,
) -> None:
    """Explain what `text` names, or show the prompt for it."""
    from fullgraph.ai.explain import explain, subjects_of
    from fullgraph.files import check_writable

    if output is not None:
        check_writable(output)
    with_source = not no_source
    if show_prompt:
        _show_prompts(subjects_of(text, session, with_source=with_source), with_source, output)
        return
    # Without a model there is no need to look further.
    questions = open_questions(model, timeout, max_tokens, max_cost)
    subjects = subjects_of(text, session, with_source=with_source)
    if output is None and format_ == "text" and sys.stdout.isatty():
        for number, subject in enumerate(subjects):
            _explain_live(subject, questions, with_source, is_first=number == 0)
        return
    explanations = [explain(each, questions, with_source=with_source) for each in subjects]
    deliver("explanation", explanations, format_, output=output)


def _show_prompts(subjects: list[Subject], with_source: bool, output: str | None) -> None:
    from fullgraph.ai.explain_prompt import explain_prompt, shown_prompt
    from fullgraph.files import replace_file

    shown = "\n".join(
        shown_prompt(explain_prompt(each, with_source=with_source)) for each in subjects
    )
    if output is not None:
        replace_file(output, [shown.encode()])
    else:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(shown.encode(encoding, "replace").decode(encoding))


def _explain_live(
    subject: Subject, questions: Questions, with_source: bool, *, is_first: bool
) -> Explanation:
    """Explain a break in a terminal: the text as it arrives, then the checks below it."""
    from fullgraph.ai.explain import explain
    from fullgraph.commands._live_answer import LiveAnswer
    from fullgraph.render._lines import joined
    from fullgraph.render.explanation.text import answer_lines, below, heading
    from fullgraph.terminal import Terminal

    stream = sys.stdout
    terminal = Terminal(*window(True))
    top = heading(subject.place, subject.id, subject.type, terminal)
    for note in subject.notes:
        top += terminal.labelled("note", note)
    stream.write(joined(top if is_first else ["", *top]))
    stream.flush()
    live, waiting = LiveAnswer(stream, terminal), _Waiting()

    def show(text: str) -> None:
        waiting.clear()
        live.feed(text)

    def check() -> None:
        live.end()
        waiting.show("checking what the model claims")

    waiting.show(f"asking {questions.usage.model}")
    try:
        done = explain(
            subject, questions, with_source=with_source, on_text=show, before_checks=check
        )
    finally:
        live.end()
        waiting.clear()
    lines = [] if live.has_written else answer_lines(done.answer, terminal)
    stream.write(joined([*lines, *below(done, terminal)]))
    stream.flush()
    return done


class _Waiting:
    """Says in a terminal what takes a moment, on a line that goes again."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, what: str) -> None:
        """Write the line."""
        if sys.stderr is not None and sys.stderr.isatty():
            click.echo(f"\r\x1b[K  {what} …", nl=False, err=True)
            self._is_shown = True

    def clear(self) -> None:
        """Remove the line, if it is there: text of an answer may be in its place."""
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_shown = False
