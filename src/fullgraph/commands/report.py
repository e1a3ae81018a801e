"""`fullgraph report`: show a captured session again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from fullgraph.commands._output import deliver, report_options

if TYPE_CHECKING:
    from fullgraph.model.report import Report


@click.command()
@report_options
@click.argument("files", nargs=-1, metavar="[SESSION|REPORT.json]...")
def command(files: tuple[str, ...], format_: str, output: str | None, show_all: bool) -> None:
    """Show the report of an earlier run.

    SESSION is a session file or a folder of session files; several are merged into one report.
    REPORT.json is a report that `fullgraph run --format json -o REPORT.json` wrote. By default the
    last `fullgraph run` is shown, even if it was killed.
    """
    rest = shlex.join(["fullgraph", "report", "--all", *files])
    top = {"top": None} if show_all else {}
    deliver("report", _report(files), format_, output=output, rest=rest, **top)


def _report(files: tuple[str, ...]) -> Report:
    from fullgraph.analysis import analyze
    from fullgraph.capture.store import last_session
    from fullgraph.errors import ReportError
    from fullgraph.model.report import is_report, load_report
    from fullgraph.model.session import load_all

    reports = [file for file in files if is_report(file)]
    if reports and len(files) > 1:
        raise ReportError(
            f"{reports[0]} is a report, which cannot be merged; name sessions, or only one report"
        )
    if reports:
        return load_report(reports[0])
    return analyze(load_all(files or (str(last_session()),)))
