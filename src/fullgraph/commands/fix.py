"""`fullgraph fix`: find, verify and apply fixes."""

from __future__ import annotations

import shlex

import click

from fullgraph.commands._apply import (
    recover_files,
    require_clean_script,
    undo_last,
    write_fixes,
)
from fullgraph.commands._output import deliver, format_option
from fullgraph.commands._progress import progress_line
from fullgraph.commands.run import RunCommand


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@click.option("--apply", "apply_", is_flag=True, help="Write the fixes to your own files.")
@click.option(
    "--undo", "undo_", is_flag=True,
    help="Revert the last --apply; with a script, the last one that wrote it.",
)  # fmt: skip
@click.option(
    "--force", is_flag=True,
    help="Also write files that git does not have as they are; with --undo, also restore files "
    "that were changed since.",
)  # fmt: skip
@click.option(
    "--unsafe", is_flag=True,
    help="Also write fixes that assume or change something, which the report names.",
)  # fmt: skip
@click.option(
    "--no-rerun", is_flag=True,
    help="With --apply: do not run the changed program once more before writing, and write only "
    "changes inside of functions.",
)  # fmt: skip
@click.option("--only", type=click.Choice(["settings"]), help="Only try this kind of fix.")
@click.option(
    "--time", "seconds", type=click.FloatRange(min=5), default=120.0, show_default=True,
    metavar="SECONDS", help="Time limit for finding fixes.",
)  # fmt: skip
@click.option(
    "--backend", "backends", multiple=True, metavar="NAME",
    help="Also verify with this backend (eager and aot_eager are always used).",
)  # fmt: skip
@click.option(
    "--cost", "with_cost", is_flag=True,
    help="Also measure what each fix is worth, by leaving it out.",
)  # fmt: skip
@format_option("fix")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output."
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARG]...")
def command(
    target: tuple[str, ...],
    apply_: bool,
    undo_: bool,
    force: bool,
    unsafe: bool,
    no_rerun: bool,
    only: str | None,
    seconds: float,
    backends: tuple[str, ...],
    with_cost: bool,
    format_: str,
    output: str | None,
) -> None:
    """Find and verify fixes for the graph breaks in a program.

    Runs the program once in eager mode and records its calls. Each candidate fix is then tested
    on the recorded and on varied inputs: it must remove the break and change no output, gradient,
    side effect or exception. Probes then vary one property at a time, and the report says what
    each fix assumes. Nothing is written without --apply, which writes the safe fixes and may also
    come last.
    """
    if undo_:
        undo_last(force, target)
        return
    recover_files()
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.files import check_writable
    from fullgraph.fix.pipeline import fix_program

    target, own_flags = _own_flags(target)
    apply_, force = apply_ or "--apply" in own_flags, force or "--force" in own_flags
    unsafe = unsafe or "--unsafe" in own_flags
    reruns = not (no_rerun or "--no-rerun" in own_flags)
    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    if apply_ and not force:
        require_clean_script(target)
    with progress_line() as progress:
        outcome = fix_program(
            target,
            seconds=seconds,
            progress=progress,
            only_settings=only == "settings",
            backends=backends,
            price=with_cost,
            use="write" if apply_ else None,
            unsafe=unsafe,
            reruns=reruns,
        )
    command_line = "" if apply_ else shlex.join(target)
    deliver("fix", outcome.report, format_, output=output, command=command_line)
    if format_ == "diff" and outcome.report.settings:
        statements = "; ".join(each for fix in outcome.report.fixes for each in fix.settings)
        click.echo(f"fullgraph: these settings are not in the diff: {statements}", err=True)
    if apply_:
        write_fixes(outcome, target, force=force, reruns=reruns)


_MAY_COME_LAST = ("--apply", "--force", "--unsafe", "--no-rerun")


def _own_flags(target: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split off our own flags that follow the program: users often add --apply last."""
    end = len(target)
    while end > 1 and target[end - 1] in _MAY_COME_LAST:
        end -= 1
    return target[:end], target[end:]
