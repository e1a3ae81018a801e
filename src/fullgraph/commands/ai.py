"""`fullgraph ai`: what is configured for `--ai`, and a check of our categories."""

from __future__ import annotations

import sys

import click

from fullgraph.commands._ai import ends_with_130, limit_options, model_option, open_questions
from fullgraph.commands._output import deliver, format_option


@click.group()
def command() -> None:
    """Show which language models are configured, and compare their categories with ours.

    Nothing here is used unless you ask for it: fullgraph explain --ai explains a break.
    """


@command.command()
@model_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for each answer.",
)
@format_option("models")
def models(model: str | None, timeout: float, format_: str) -> None:
    """Show what is configured, and whether it answers.

    Each provider with a key or an address of its own is asked for its models. The chosen model is
    asked a short question. Keys are never shown.
    """
    from fullgraph.ai.reachability import look_around

    with ends_with_130():
        found = look_around(model, timeout)
    deliver("models", found, format_)
    sys.exit(found.exit_code)


@command.command()
@model_option
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Ask about N entries only.")
@click.option("-o", "--output", metavar="FILE", help="Write only the result, to FILE.")
@limit_options
@format_option("classification")
@click.argument("ids", nargs=-1, metavar="[ID]...")
def classify(
    model: str | None,
    most: int | None,
    output: str | None,
    timeout: float,
    max_tokens: int,
    max_cost: float | None,
    format_: str,
    ids: tuple[str, ...],
) -> None:
    """Compare a model's category for each entry of the registry with ours.

    The model gets the categories and the texts of the installed torch's entries, or of those with
    an ID, and does not see our answers.
    """
    from fullgraph.ai.classify import classify as compare
    from fullgraph.ai.classify import entries_of
    from fullgraph.commands._progress import progress_line
    from fullgraph.errors import RegistryError
    from fullgraph.files import check_writable
    from fullgraph.registry.sources import require_installed

    if output is not None:
        check_writable(output)
    with ends_with_130():
        questions = open_questions(model, timeout, max_tokens, max_cost)
        snapshot = require_installed()
        wanted = tuple(each.upper() for each in ids)
        for each in wanted:
            if each not in snapshot.entries:
                raise RegistryError(
                    f"torch {snapshot.release} has no entry {each}; see fullgraph registry list"
                )
        entries = entries_of(snapshot, wanted)[:most]
        with progress_line() as progress:
            found = compare(snapshot, entries, questions, progress)
        deliver("classification", found, format_, output=output)
