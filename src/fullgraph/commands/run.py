from __future__ import annotations

import shlex
import sys
from typing import IO

import click

from fullgraph.commands._output import deliver, report_options


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
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARG]...")
def command(
    target: tuple[str, ...],
    format_: str,
    output: str | None,
    show_all: bool,
    session: str | None,
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


def _rest(session: str | None) -> str:
    return shlex.join(["fullgraph", "report", "--all", *([session] if session else [])])
