"""`fullgraph purity`: check whether a function is pure."""

from __future__ import annotations

import click

from fullgraph.commands._output import deliver, format_option


@click.command()
@format_option("purity")
@click.option(
    "--inputs",
    metavar="EXPR",
    help="Run the function with these arguments: a tuple that is evaluated in its file, such as "
    "'(torch.ones(3),)'. By default, inputs() of the file returns the arguments.",
)
@click.option("--no-run", is_flag=True, help="Only analyze the source; run nothing.")
@click.argument("function", metavar="MODULE:NAME|FILE.py:NAME")
def command(function: str, inputs: str | None, no_run: bool, format_: str) -> None:
    """Check whether a function is pure: deterministic and free of side effects.

    Only a pure function can safely be wrapped in an escape hatch, cached or skipped. The check
    analyzes the source of the function and of the functions in its file that it calls. If there are
    arguments, it also runs the function twice.

    The exit code is 0 for a pure function, 1 for a function that is not pure or may not be, and 2
    for bad input.
    """
    from fullgraph.fix.purity.check import check

    result = check(function, inputs, run=not no_run)
    deliver("purity", result, format_)
    raise SystemExit(0 if result.pure else 1)
