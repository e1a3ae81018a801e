"""`fullgraph run`: run a program unchanged and report its graph breaks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from fullgraph.commands._output import deliver_after_run, renamed_option, report_options
from fullgraph.commands._progress import progress_line
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from pathlib import Path

    from fullgraph.fix.pipeline import FixOutcome
    from fullgraph.model.report import Report


class RunCommand(click.Command):
    """Parses options only up to the program: all arguments after it belong to the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the program."""
        return super().parse_args(ctx, _with_separator(self, args))


def _with_separator(command: click.Command, args: list[str]) -> list[str]:
    """Return the arguments with `--` before the program."""
    with_value = {
        name
        for option in command.params
        if isinstance(option, click.Option) and not option.is_flag
        for name in option.opts
    }
    index = 0
    while index < len(args) and args[index].startswith("-") and args[index] not in ("-m", "--"):
        index += 2 if args[index] in with_value else 1
    if args[index : index + 1] == ["--"]:
        return args
    return [*args[:index], "--", *args[index:]]


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@report_options
@click.option(
    "--session",
    metavar="FOLDER",
    help="Keep the session files in FOLDER. By default, fullgraph keeps those of the last runs.",
)
@click.option(
    "--fix",
    "with_fixes",
    is_flag=True,
    help="Apply verified fixes in memory before running; no files are changed.",
)
@renamed_option("--mend", "--fix", is_flag=True)
@click.option(
    "--unsafe",
    is_flag=True,
    help="With --fix: also apply fixes that assume or change something.",
)
@click.option(
    "--cost",
    "with_cost",
    is_flag=True,
    help="Time steady calls, and rank root causes by what they cost a call.",
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARG]...")
def command(
    target: tuple[str, ...],
    format_: str,
    output: str | None,
    show_all: bool,
    session: str | None,
    with_fixes: bool,
    unsafe: bool,
    with_cost: bool,
) -> None:
    """Run a program and report its graph breaks.

    The program runs exactly as under python, with its own arguments, stdin, stdout, signals and
    exit code. The report follows on stderr, or goes to FILE with -o. JSON without -o follows the
    output of the program on stdout.
    """
    from pathlib import Path

    from fullgraph.capture.process import check_program, check_torch, end_like, run_program
    from fullgraph.capture.store import new_session, prepare_session
    from fullgraph.files import check_writable

    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    folder = prepare_session(Path(session)) if session else new_session()
    if with_fixes:
        _apply_fixes(target, folder, unsafe)
    code = run_program(target, folder, ["cost"] if with_cost else [])
    has_failed = _show_report(folder, format_, output, show_all, session)
    # If the program fails, its own exit code counts.
    end_like(2 if has_failed and code == 0 else code)


def _show_report(
    folder: Path, format_: str, output: str | None, show_all: bool, session: str | None
) -> bool:
    """Write the report of the sessions in `folder`; return whether nothing could be captured."""
    from fullgraph.analysis import analyze
    from fullgraph.model.session import load_all

    try:
        report = analyze(load_all((str(folder),)))
        _deliver(report, format_, output, show_all, session)
    except FullgraphError as error:
        click.echo(f"fullgraph: {error}", err=True)
        return True
    except BrokenPipeError:
        return False
    return any(problem.fatal for problem in report.problems)


def _deliver(
    report: Report, format_: str, output: str | None, show_all: bool, session: str | None
) -> None:
    rest = shlex.join(["fullgraph", "report", "--all", *([session] if session else [])])
    top = {"top": None} if show_all else {}
    deliver_after_run("report", report, format_, output=output, rest=rest, **top)


def _apply_fixes(target: tuple[str, ...], folder: Path, unsafe: bool) -> None:
    """Search for fixes and make the program run with them; without any if that fails."""
    import os

    from msgspec import json

    from fullgraph.fix.model import PLAN_VARIABLE
    from fullgraph.fix.pipeline import fix_in_memory

    try:
        with progress_line() as progress:
            fixed = fix_in_memory(target, progress=progress, unsafe=unsafe)
    except FullgraphError as error:
        click.echo(f"fullgraph: running without fixes: {error}", err=True)
        return
    if not fixed.report.summary.verified:
        why = fixed.report.verification.problems[0]
        click.echo(f"fullgraph: running without fixes: verification failed: {why}", err=True)
        return
    path = folder / "plan.json"
    path.write_bytes(json.encode(fixed.plan))
    os.environ[PLAN_VARIABLE] = str(path)
    click.echo(f"fullgraph: {_applied(fixed)}", err=True)


def _applied(fixed: FixOutcome) -> str:
    """Return which fixes are in effect, and why others are not."""
    if fixed.why_none:
        return f"running without fixes: {fixed.why_none}"
    fixes = fixed.report.fixes
    left = 0 if fixed.unsafe else sum(fix.grade in ("assumes", "changes") for fix in fixes)
    causes = fixed.report.summary.causes
    if not left:
        return f"fixes applied; root causes {causes.before} → {causes.after}"
    safe = sum(fix.grade == "safe" for fix in fixes)
    return (
        f"{safe} safe {'fix' if safe == 1 else 'fixes'} applied; {left} assume or change something "
        "(--unsafe applies them)"
    )
