"""`fullgraph learn`: the guide, with code that runs."""

from __future__ import annotations

import click

from fullgraph.commands._output import deliver, format_option
from fullgraph.errors import FullgraphError


@click.command()
@format_option("lesson", "lessons")
@click.option("--run", "runs", is_flag=True, help="Run the code of the lesson here and now.")
@click.option("--quiz", is_flag=True, help="Predict what happens; running it tells.")
@click.option("--save", metavar="FILE", help="Write the program of the lesson to a new file.")
@click.argument("lesson", required=False)
def command(lesson: str | None, runs: bool, quiz: bool, save: str | None, format_: str) -> None:
    """Learn how torch.compile works, one short lesson at a time.

    Without an argument, the lessons are listed in reading order. LESSON is the name or the number
    of a lesson, such as guards.
    """
    from fullgraph.guide.lesson import all_lessons, lesson_named

    actions = [
        name for name, is_on in (("--run", runs), ("--quiz", quiz), ("--save", save)) if is_on
    ]
    if len(actions) > 1 or (actions and format_ != "text"):
        others = [*actions, *(["--format"] if format_ != "text" else [])]
        raise FullgraphError(f"{' and '.join(others)} do not go together; use one of them")
    if lesson is None:
        if actions:
            raise FullgraphError("name a lesson, such as: fullgraph learn graph-breaks --run")
        deliver("lessons", all_lessons(), format_)
        return
    chosen = lesson_named(lesson)
    if save is not None:
        _save(chosen.program, save)
    elif quiz:
        from fullgraph.commands._lessons import ask

        ask(chosen)
    elif runs:
        from fullgraph.commands._lessons import run_and_show

        run_and_show(chosen)
    else:
        deliver("lesson", chosen, format_)


def _save(program: str, target: str) -> None:
    """Write a program to a file that does not exist yet."""
    from fullgraph.files import unwritable

    try:
        with open(target, "x", encoding="utf-8") as file:
            file.write(program)
    except FileExistsError:
        raise FullgraphError(f"{target} exists; name another file") from None
    except OSError as error:
        raise FullgraphError(unwritable(target, error)) from None
    click.echo(f"wrote {target}; run it with: fullgraph run {target}")
