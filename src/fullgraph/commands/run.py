from __future__ import annotations

import shlex
import sys
from typing import IO, TYPE_CHECKING

import click

from fullgraph.commands._output import deliver, report_options

if TYPE_CHECKING:
    from pathlib import Path


class RunCommand(click.Command):
    """Stops reading options at the program: what follows it belongs to the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _split(self, args))


def _split(command: click.Command, args: list[str]) -> list[str]:
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
    "--session", metavar="FOLDER", help="Keep the captured sessions in FOLDER, for later reports."
)
@click.option(
    "--mend", is_flag=True, help="Remove what can be proven away first, in memory: no file changes."
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARG]...")
def command(
    target: tuple[str, ...],
    format_: str,
    output: str | None,
    show_all: bool,
    session: str | None,
    mend: bool,
) -> None:
    """Run a program unchanged, then show every graph break it met.

    The program gets its own arguments, input, output, signals and exit code, as if python had run
    it. The report follows on standard error, or goes to FILE with -o; JSON without -o follows the
    program's output on standard output.
    """
    from pathlib import Path

    from fullgraph.analysis import analyse
    from fullgraph.capture.process import check_program, check_torch, end_like, run_program
    from fullgraph.capture.store import new_session, prepare_session
    from fullgraph.errors import FullgraphError
    from fullgraph.files import check_writable
    from fullgraph.model.session import load_all

    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    folder = prepare_session(Path(session)) if session else new_session()
    if mend:
        _mend(target, folder)
    code = run_program(target, folder)
    try:
        report = analyse(load_all((str(folder),)))
        # Either is missing when the shell has closed it.
        stream: IO[str] | None = sys.stdout if format_ == "json" else sys.stderr
        if output is None and format_ == "text" and stream is not None:
            stream.write("\n")
        if output is not None or stream is not None:
            deliver(report, format_, output, show_all, _rest(session), stream or sys.stderr)
        failed = any(problem.fatal for problem in report.problems)
    except FullgraphError as error:
        click.echo(f"fullgraph: {error}", err=True)
        failed = True
    except BrokenPipeError:
        failed = False
    # A program's own failure keeps its own exit code.
    end_like(2 if failed and code == 0 else code)


def _mend(target: tuple[str, ...], folder: Path) -> None:
    """Find fixes, and have the program run with them; it runs as it is where there are none."""
    import os

    from msgspec import json

    from fullgraph.commands.fix import tell
    from fullgraph.errors import FullgraphError
    from fullgraph.fix.pipeline import fix_program
    from fullgraph.fix.runtime.activate import PLAN_VARIABLE

    try:
        fixed = fix_program(target, seconds=120.0, tell=tell)
    except FullgraphError as error:
        click.echo(f"fullgraph: the program runs as it is, not mended: {error}", err=True)
        return
    if not fixed.report.summary.proven:
        why = fixed.report.proof.problems[0]
        click.echo(f"fullgraph: the program runs as it is: the proof failed: {why}", err=True)
        return
    path = folder / "plan.json"
    path.write_bytes(json.encode(fixed.plan))
    os.environ[PLAN_VARIABLE] = str(path)
    causes = fixed.report.summary.causes
    click.echo(f"fullgraph: mended, {causes.before} causes → {causes.after}", err=True)


def _rest(session: str | None) -> str:
    return shlex.join(["fullgraph", "report", "--all", *([session] if session else [])])
