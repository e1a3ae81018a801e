"""`fullgraph fix`: find, verify and apply fixes."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from fullgraph.commands._output import deliver, format_option
from fullgraph.commands.run import RunCommand

if TYPE_CHECKING:
    from fullgraph.fix.pipeline import FixOutcome

# Ratios above this are noise.
_SLOWER = 0.95


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@click.option("--apply", "apply_", is_flag=True, help="Write the fixes to your own files.")
@click.option("--undo", "undo_", is_flag=True, help="Revert the last --apply.")
@click.option(
    "--force", is_flag=True,
    help="Write even to files with uncommitted changes, and even if the result is slower.",
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
    only: str | None,
    seconds: float,
    backends: tuple[str, ...],
    format_: str,
    output: str | None,
) -> None:
    """Find and verify fixes for the graph breaks in a program.

    Runs the program once in eager mode and records its calls. Each candidate fix is then tested
    on the recorded and on varied inputs: it must remove the break and change no output, gradient,
    side effect or exception. Nothing is written without --apply, which may also come last.
    """
    if undo_:
        _undo(force)
        return
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.files import check_writable
    from fullgraph.fix.pipeline import fix_program

    target, own_flags = _own_flags(target)
    apply_, force = apply_ or "--apply" in own_flags, force or "--force" in own_flags
    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    if apply_ and not force and target[0] != "-m":
        # Checked now, and not after two minutes of work.
        from fullgraph.fix.apply import require_clean

        require_clean(target[0])
    outcome = fix_program(
        target,
        seconds=seconds,
        progress=show_progress,
        only_settings=only == "settings",
        backends=backends,
    )
    clear_progress()
    command_line = "" if apply_ else shlex.join(target)
    deliver("fix", outcome.report, format_, output=output, command=command_line)
    if format_ == "diff" and outcome.report.settings:
        statements = "; ".join(each for fix in outcome.report.fixes for each in fix.settings)
        click.echo(f"fullgraph: these settings are not in the diff: {statements}", err=True)
    if apply_:
        _apply(outcome, target, force)


def _own_flags(target: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split off our own flags that follow the program: users often add --apply last."""
    end = len(target)
    while end > 1 and target[end - 1] in ("--apply", "--force"):
        end -= 1
    return target[:end], target[end:]


def show_progress(message: str) -> None:
    """Show the current step on one line, which the next one replaces."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K  {message} …", nl=False, err=True)


def clear_progress() -> None:
    """Remove the line of `show_progress`."""
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


def _undo(force: bool) -> None:
    from fullgraph.fix.apply import undo

    for path in undo(force=force):
        click.echo(f"restored {path}")


def _apply(outcome: FixOutcome, target: tuple[str, ...], force: bool) -> None:
    from pathlib import Path

    from fullgraph.errors import FullgraphError
    from fullgraph.files import replace_file
    from fullgraph.fix.apply import apply_changes, third_party_patches, user_changes

    speedup = outcome.report.verification.speedup
    if not outcome.report.fixes:
        return
    if not outcome.report.summary.verified:
        raise FullgraphError("the fixes failed verification together: nothing was written")
    if speedup is not None and speedup < _SLOWER and not force:
        raise FullgraphError(
            f"a call takes {1 / speedup:.2f} times as long with these fixes: nothing was "
            "written; use --force to apply them anyway"
        )
    script = target[0] if target[0] != "-m" else None
    changes = user_changes(outcome.plan, script)
    if changes:
        apply_changes(changes, force=force)
    for change in changes:
        click.echo(f"wrote {Path(change.path).name}", err=True)
    for package, patch in third_party_patches(outcome.plan).items():
        name = f"fullgraph-{package}.patch"
        replace_file(name, [patch.encode()])
        click.echo(f"wrote {name}: {package} is not your code", err=True)
