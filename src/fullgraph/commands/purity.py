from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fullgraph.commands._terminal import format_option, terminal_size, write_json, write_lines

if TYPE_CHECKING:
    from fullgraph.fix.purity.check import Verdict


@click.command()
@format_option
@click.option(
    "--inputs",
    metavar="EXPR",
    help="Run it with these arguments: a tuple, in the words of its file, e.g. '(torch.ones(3),)'.",
)
@click.option("--no-run", is_flag=True, help="Only read it; nothing of its file is run.")
@click.argument("function", metavar="MODULE:NAME|FILE.py:NAME")
def command(function: str, inputs: str | None, no_run: bool, format_: str) -> None:
    """Say whether a function is pure: the same result for the same arguments, and nothing else.

    Only a pure function may be hidden from the compiler, called once instead of each time, or left
    out. It is found by reading the function and those of its file that it calls, and by running it
    twice, if its file has a function `inputs()` that returns its arguments, or with --inputs.

    The exit code is 0 for a pure function, 1 for one that is not, or where it cannot be told, and 2
    for bad input.
    """
    from fullgraph.fix.purity.check import check

    verdict = check(function, inputs, run=not no_run)
    if format_ == "json":
        import msgspec

        write_json(msgspec.to_builtins(verdict))
    else:
        _show(verdict)
    raise SystemExit(0 if verdict.pure else 1)


def _show(verdict: Verdict) -> None:
    from fullgraph.terminal import Terminal, clean

    terminal = Terminal(*terminal_size())
    colour = "green" if verdict.pure else "red"
    answer = "is pure" if verdict.pure else "is not pure, as far as can be told"
    lines = [f"{clean(verdict.function)} {terminal.style(answer, colour)}"]
    for each in verdict.findings:
        place = f"line {each.line}" if each.by == "source" else "run"
        where = f" (in {each.function})" if each.function else ""
        lines += terminal.wrapped(f"{each.what}{where}", f"  {place:<10}", " " * 12)
    lines += terminal.wrapped(verdict.ran, "  ", "  ")
    write_lines(lines)
