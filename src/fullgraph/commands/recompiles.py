"""`fullgraph recompiles`: why a program compiles again, and remedies that were replayed."""

from __future__ import annotations

import shlex
import sys
from typing import IO, TYPE_CHECKING

import click

from fullgraph.commands._apply import require_clean_script, undo_last
from fullgraph.commands._output import deliver, format_option
from fullgraph.commands._progress import progress_line
from fullgraph.commands.run import RunCommand

if TYPE_CHECKING:
    from fullgraph.recompiles.pipeline import Advice


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@click.option(
    "--apply", "apply_", metavar="N[.M]",
    help="Write remedy M of group N to your own files; M is 1 by default.",
)  # fmt: skip
@click.option(
    "--undo", "undo_", is_flag=True,
    help="Revert the last --apply; with a script, the last one that wrote it.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Write even to files with uncommitted changes.")
@click.option(
    "--time", "seconds", type=click.FloatRange(min=5), metavar="SECONDS",
    help="Time limit of the command. By default three times that of the program, at least 90.",
)  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="Show all groups and remedies.")
@format_option("recompiles")
@click.option("-o", "--output", metavar="FILE", help="Write only the report, to FILE.")
@click.argument(
    "target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE|SESSION [ARG]..."
)
def command(
    target: tuple[str, ...],
    apply_: str | None,
    undo_: bool,
    force: bool,
    seconds: float | None,
    show_all: bool,
    format_: str,
    output: str | None,
) -> None:
    """Find out why a program compiles again, and what helps.

    Runs the program, groups its recompiles by what changes, and runs it again with each remedy in
    place. Only remedies that lead to fewer compiles or eager calls, with equal results, are shown.
    The exit code is that of the program; Ctrl-C ends the replays, and the report follows.
    SESSION is the session of an earlier run; its remedies are not replayed.
    """
    if undo_:
        undo_last(force, target)
        return
    from fullgraph.files import check_writable
    from fullgraph.model.session import is_session

    wanted = _parsed(apply_) if apply_ is not None else None
    if output is not None:
        check_writable(output)
    of_session = len(target) == 1 and is_session(target[0])
    if of_session:
        advice = _advise_on_session(target[0])
    else:
        advice = _advise(target, seconds, must_be_clean=wanted is not None and not force)
    stream: IO[str] | None = sys.stdout if of_session or format_ == "json" else sys.stderr
    if output is not None or stream is not None:
        top = {"top": None} if show_all else {}
        shown = "" if of_session or wanted else shlex.join(target)
        deliver(
            "recompiles", advice.report, format_, output=output, stream=stream, command=shown,
            **top,
        )  # fmt: skip
    if advice.is_interrupted:
        click.echo("fullgraph: interrupted; remedies that were not replayed say so", err=True)
    elif wanted is not None:
        _write(advice, *wanted, force=force)
    _end(advice)


def _end(advice: Advice) -> None:
    """End as the program did, or as an interrupted command."""
    from fullgraph.capture.process import end_like

    if advice.exit_code:
        end_like(advice.exit_code)


def _parsed(text: str) -> tuple[int, int]:
    from fullgraph.errors import FullgraphError

    group, _, remedy = text.partition(".")
    if not group.isdigit() or not (remedy or "1").isdigit():
        raise FullgraphError(f"--apply {text} names no remedy; write --apply N or --apply N.M")
    if int(group) == 0 or int(remedy or "1") == 0:
        raise FullgraphError(f"--apply {text} names no remedy; groups and remedies start at 1")
    return int(group), int(remedy or "1")


def _advise_on_session(name: str) -> Advice:
    from pathlib import Path

    from fullgraph.model.session import load_all
    from fullgraph.recompiles.pipeline import advise_on_session

    path = Path(name)
    return advise_on_session(load_all((name,)), path if path.is_dir() else None)


def _advise(target: tuple[str, ...], seconds: float | None, *, must_be_clean: bool) -> Advice:
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.capture.store import new_session
    from fullgraph.recompiles.pipeline import advise_on_program

    check_program(target)
    check_torch()
    if must_be_clean:
        require_clean_script(target)
    with progress_line() as progress:
        return advise_on_program(target, new_session(), seconds=seconds, progress=progress)


def _write(advice: Advice, group: int, remedy: int, *, force: bool) -> None:
    """Write one remedy to the user's files."""
    from fullgraph.errors import FullgraphError
    from fullgraph.fix.apply import apply_changes, user_changes
    from fullgraph.fix.apply.copy_check import check_syntax
    from fullgraph.fix.report.diff import display_path
    from fullgraph.recompiles.pipeline import plan_of

    found = advice.candidates[group - 1 : group] if group else ()
    candidates = found[0] if found else ()
    if not 1 <= remedy <= len(candidates):
        raise FullgraphError(f"there is no remedy {group}.{remedy}; the report lists them")
    candidate = candidates[remedy - 1]
    if not candidate.can_be_written:
        raise FullgraphError(
            f"remedy {group}.{remedy} is not a change of your source, so nothing was written"
        )
    if advice.report.groups[group - 1].remedies[remedy - 1].replay is None:
        problem = f"remedy {group}.{remedy} was not replayed, so nothing was written"
        raise FullgraphError(f"{problem}; {_next_step(advice)}")
    changes = user_changes(plan_of(candidate), advice.main_file)
    if not changes:
        raise FullgraphError(f"remedy {group}.{remedy} changes files that are not yours")
    check_syntax(changes)
    apply_changes(changes, force=force)
    for change in changes:
        click.echo(f"wrote {display_path(change.path)}", err=True)


def _next_step(advice: Advice) -> str:
    """Return what to do about a remedy that was not replayed."""
    why = advice.report.not_replayed
    if not why:
        return "raise --time"
    if advice.is_of_session:
        return "name the program instead of the session"
    return f"remedies are {why}"
