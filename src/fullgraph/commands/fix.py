"""`fullgraph fix`: find, verify and apply fixes."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

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
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.fix.pipeline import FixOutcome, FixSession
    from fullgraph.fix.report.model import FixReport

# The exit code of a command that was interrupted, as shells have it.
_INTERRUPTED = 130


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
    "--time", "seconds", type=click.FloatRange(min=5), metavar="SECONDS",
    help="CPU time for finding fixes; accepted fixes are verified in full after it.  [default: 60, "
    "or six times that of the program]",
)  # fmt: skip
@click.option(
    "--backend", "backends", multiple=True, metavar="NAME",
    help="Also verify with this backend (eager and aot_eager are always used).",
)  # fmt: skip
@click.option(
    "--cost", "with_cost", is_flag=True,
    help="Also measure what each fix is worth, by leaving it out.",
)  # fmt: skip
@click.option(
    "--no-speed", is_flag=True, help="Do not measure how much faster a call is; not with --apply."
)
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
    seconds: float | None,
    backends: tuple[str, ...],
    with_cost: bool,
    no_speed: bool,
    format_: str,
    output: str | None,
) -> None:
    """Find and verify fixes for the graph breaks in a program.

    Runs the program once in eager mode and records its calls. Each candidate fix is then tested
    on the recorded and on varied inputs: it must remove the break and change no output, gradient,
    side effect or exception. Probes then vary one property at a time, and the report says what
    each fix assumes. How much faster a call is comes last: Ctrl-C then keeps what was shown.
    Nothing is written without --apply, which writes the safe fixes and may also come last.
    """
    if undo_:
        undo_last(force, target)
        return
    recover_files()
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.files import check_writable
    from fullgraph.fix.pipeline import FixSession

    target, own_flags = _own_flags(target)
    apply_, force = apply_ or "--apply" in own_flags, force or "--force" in own_flags
    unsafe = unsafe or "--unsafe" in own_flags
    reruns = not (no_rerun or "--no-rerun" in own_flags)
    if apply_ and no_speed:
        raise FullgraphError("--apply does not write what is slower, so leave out --no-speed")
    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    if apply_ and not force:
        require_clean_script(target)
    show = _Display(format_, output, "" if apply_ else shlex.join(target))
    with progress_line() as progress:
        session = FixSession(
            target,
            progress=progress,
            seconds=seconds,
            only_settings=only == "settings",
            backends=backends,
        )
        measure = _Measure(speed=not no_speed, cost=with_cost)
        how = _Use("write" if apply_ else None, unsafe=unsafe, reruns=reruns)
        outcome = _found(session, show, measure, how)
    if apply_:
        write_fixes(outcome, target, force=force, reruns=reruns)


_MAY_COME_LAST = ("--apply", "--force", "--unsafe", "--no-rerun")


class _Measure(NamedTuple):
    """What is measured after the fixes were shown."""

    speed: bool
    cost: bool


class _Use(NamedTuple):
    """What is done with the fixes."""

    use: Literal["write"] | None
    unsafe: bool
    reruns: bool


class _Display:
    """Shows a report at once where it can, and what was measured later below it."""

    def __init__(self, format_: str, output: str | None, command_line: str) -> None:
        self._format = format_
        self._output = output
        self._command_line = command_line
        # One JSON object, or one file, has all of it.
        self._is_stream = format_ in ("text", "diff") and output is None

    def verified(self, report: FixReport) -> None:
        """Show what is verified and graded."""
        if self._is_stream:
            self._deliver(report)
        if self._format == "diff" and report.settings:
            statements = "; ".join(each for fix in report.fixes for each in fix.settings)
            click.echo(f"fullgraph: these settings are not in the diff: {statements}", err=True)

    def measured(self, report: FixReport) -> None:
        """Show what was measured, or everything where nothing was shown yet."""
        if not self._is_stream:
            self._deliver(report)
        elif self._format == "text":
            self._deliver(report, only_measured=True)
        if report.verification.is_slower and (self._format != "text" or not self._is_stream):
            click.echo("fullgraph: withdrawn: a call is slower with these fixes", err=True)

    def everything(self, report: FixReport) -> None:
        """Show a report that nothing is added to."""
        self.verified(report)
        if not self._is_stream:
            self._deliver(report)

    def _deliver(self, report: FixReport, *, only_measured: bool = False) -> None:
        deliver(
            "fix", report, self._format, output=self._output, command=self._command_line,
            only_measured=only_measured,
        )  # fmt: skip


def _found(
    session: FixSession,
    show: _Display,
    measure: _Measure,
    how: _Use,
) -> FixOutcome:
    """Find fixes, show them, measure them and show that; an interrupt ends the command."""
    try:
        with session, _one_interrupt():
            outcome = session.find(how.use, unsafe=how.unsafe, reruns=how.reruns)
            show.verified(outcome.report)
            return _measured(session, outcome, show, measure, is_last=how.use is None)
    except KeyboardInterrupt:
        report = session.verified_so_far()
        if report is None:
            click.echo("fullgraph: interrupted; nothing is verified yet", err=True)
        else:
            show.everything(report)
            click.echo("fullgraph: interrupted; this is what was verified so far", err=True)
        sys.exit(_INTERRUPTED)


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """Ignore further interrupts after the first: they would keep processes from being ended."""
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise


def _measured(
    session: FixSession, outcome: FixOutcome, show: _Display, measure: _Measure, *, is_last: bool
) -> FixOutcome:
    """Measure what was shown. Without --apply, an interrupt of this leaves what was shown."""
    try:
        with _one_interrupt():
            if measure.speed:
                outcome = session.measure(outcome)
            if measure.cost:
                outcome = session.price(outcome)
    except KeyboardInterrupt:
        show.measured(outcome.report)
        if is_last:
            click.echo("fullgraph: interrupted; the speed is not known", err=True)
            sys.exit(0)
        click.echo("fullgraph: interrupted; nothing was written", err=True)
        sys.exit(_INTERRUPTED)
    show.measured(outcome.report)
    return outcome


def _own_flags(target: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split off our own flags that follow the program: users often add --apply last."""
    end = len(target)
    while end > 1 and target[end - 1] in _MAY_COME_LAST:
        end -= 1
    return target[:end], target[end:]
