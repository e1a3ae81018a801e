"""`fullgraph guards`: show what compiled code is guarded on, and what its guards cost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from fullgraph.commands._output import deliver, deliver_after_run, format_option
from fullgraph.commands.run import RunCommand

if TYPE_CHECKING:
    from pathlib import Path

    from fullgraph.model.guard_report import GuardsReport


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@format_option("guards")
@click.option("-o", "--output", metavar="FILE", help="Write only the result, to FILE.")
@click.option("--all", "show_all", is_flag=True, help="Show every guard of every compile.")
@click.option(
    "--session",
    metavar="FOLDER",
    help="Keep the session files in FOLDER. By default, fullgraph keeps those of the last runs.",
)
@click.argument(
    "target",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="PROGRAM[:FUNCTION]|-m MODULE[:FUNCTION]|SESSION [ARG]...",
)
def command(
    target: tuple[str, ...],
    format_: str,
    output: str | None,
    show_all: bool,
    session: str | None,
) -> None:
    """Show what compiled code is guarded on, and what its guards cost per call.

    The program runs as under python. Each compiled function is listed with the number of its
    guards, the measured time of one check, and the guards by kind and source, the most expensive
    first. FUNCTION shows only the functions of that name, such as forward or Model.forward.
    SESSION shows the guards of an earlier `fullgraph guards --session SESSION`.
    """
    from pathlib import Path

    from fullgraph.capture.process import check_program, check_torch, end_like, run_program
    from fullgraph.capture.store import new_session, prepare_session
    from fullgraph.files import check_writable
    from fullgraph.model.session import is_session

    target, function = _split_function(target)
    if output is not None:
        check_writable(output)
    if len(target) == 1 and is_session(target[0]):
        report = _read_guards(Path(target[0]), function)
        deliver("guards", report, format_, output=output, show_all=show_all)
        return
    check_program(target)
    check_torch()
    folder = prepare_session(Path(session)) if session else new_session()
    code = run_program(target, folder, ["guards"])
    report = _read_guards(folder, function, is_new=True)
    deliver_after_run("guards", report, format_, output=output, show_all=show_all)
    end_like(code)


def _split_function(target: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the target without `:FUNCTION`, and the function; empty if there is none."""
    index = 1 if target[:1] == ("-m",) else 0
    if len(target) <= index or os.path.exists(target[index]):
        return target, ""
    name, separator, function = target[index].rpartition(":")
    # A drive such as C:\ is not a program with a function.
    if not separator or not name or not function.replace(".", "").isidentifier():
        return target, ""
    return (*target[:index], name, *target[index + 1 :]), function


def _read_guards(folder: Path, function: str, *, is_new: bool = False) -> GuardsReport:
    """Return the guards of a session, or only those of a function."""
    from fullgraph.analysis.guards import analyze_guards, only_function
    from fullgraph.errors import SessionError
    from fullgraph.model.session import load_all

    report = analyze_guards(load_all((str(folder),)))
    if not report.functions and not is_new:
        raise SessionError(
            f"{folder} has no guards; capture them with fullgraph guards --session FOLDER PROGRAM"
        )
    return only_function(report, function) if function and report.functions else report
