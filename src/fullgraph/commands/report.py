from __future__ import annotations

import shlex
import sys

import click

from fullgraph.commands._output import deliver, report_options


@click.command()
@report_options
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
def command(sessions: tuple[str, ...], format_: str, output: str | None, show_all: bool) -> None:
    """Show the report of sessions that were captured before.

    SESSION is a session file or a folder of them; several are merged into one report. Without
    any, the last `fullgraph run` is shown, also when it was killed.
    """
    from fullgraph.analysis import analyse
    from fullgraph.capture.store import last_session
    from fullgraph.model.session import load_all

    paths = sessions or (str(last_session()),)
    report = analyse(load_all(paths))
    rest = shlex.join(["fullgraph", "report", "--all", *sessions])
    deliver(report, format_, output, show_all, rest, sys.stdout)
