"""`fullgraph where`: where in a program should `torch.compile` be applied?"""

from __future__ import annotations

import click

from fullgraph.commands._output import deliver, format_option
from fullgraph.commands._progress import progress_line
from fullgraph.commands.run import RunCommand

_INTERRUPTED_CODE = 130


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@click.option(
    "--time", "seconds", type=click.FloatRange(min=5), default=120.0, show_default=True,
    metavar="SECONDS", help="Time limit for trying choices; the report says what was not tried.",
)  # fmt: skip
@click.option(
    "--backend", metavar="NAME", default="",
    help="Compile with this backend. By default with that of the program, or with inductor.",
)  # fmt: skip
@format_option("where")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output."
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARG]...")
def command(
    target: tuple[str, ...], seconds: float, backend: str, format_: str, output: str | None
) -> None:
    """Find out where to apply torch.compile in a program.

    Runs the program once in eager mode and records its calls. Then compiles the whole model, its
    repeated blocks and single submodules, each in a process of its own, and times the recorded
    calls in turns. Choices whose results differ from eager mode are not offered. Nothing is
    written. Ctrl-C ends the measurement, and the report shows what was measured.
    """
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.files import check_writable
    from fullgraph.where.pipeline import choose_for_program

    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    with progress_line() as progress:
        report = choose_for_program(target, seconds=seconds, backend=backend, progress=progress)
    deliver("where", report, format_, output=output, widest=None)
    if report.interrupted:
        raise SystemExit(_INTERRUPTED_CODE)
