"""`fullgraph fix`: find, verify and apply fixes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from fullgraph.commands._output import deliver, format_option
from fullgraph.commands._progress import progress_line
from fullgraph.commands.run import RunCommand

if TYPE_CHECKING:
    from fullgraph.fix.pipeline import FixOutcome
    from fullgraph.fix.report.model import FixReport


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
        )
    command_line = "" if apply_ else shlex.join(target)
    deliver("fix", outcome.report, format_, output=output, command=command_line)
    if format_ == "diff" and outcome.report.settings:
        statements = "; ".join(each for fix in outcome.report.fixes for each in fix.settings)
        click.echo(f"fullgraph: these settings are not in the diff: {statements}", err=True)
    if apply_:
        write_fixes(outcome, target, force=force)


def _own_flags(target: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split off our own flags that follow the program: users often add --apply last."""
    end = len(target)
    while end > 1 and target[end - 1] in ("--apply", "--force", "--unsafe"):
        end -= 1
    return target[:end], target[end:]


def require_clean_script(target: tuple[str, ...]) -> None:
    """Check the script that --apply will write: now, and not after minutes of work."""
    from fullgraph.fix.apply import require_clean

    if target[0] != "-m":
        require_clean(target[0])


def recover_files() -> None:
    """Restore the files of an --apply that was killed, and name them."""
    from fullgraph.fix.apply import recover

    found = recover()
    for path in found.restored:
        click.echo(f"fullgraph: an interrupted --apply was taken back: restored {path}", err=True)
    for problem in found.problems:
        click.echo(f"fullgraph: {problem}", err=True)


def undo_last(force: bool, target: tuple[str, ...] = ()) -> None:
    """Restore the files of the last --apply that wrote the program, and name them."""
    from fullgraph.fix.apply import undo

    for path in undo(force=force, script=target[0] if target else None):
        click.echo(f"restored {path}")


def write_fixes(outcome: FixOutcome, target: tuple[str, ...], *, force: bool) -> None:
    """Write the fixes to the user's files and to patches; say what was and was not written."""
    from fullgraph.errors import FullgraphError
    from fullgraph.fix.apply import apply_changes, third_party_patches, user_changes, write_patch
    from fullgraph.fix.report.diff import display_path

    verification = outcome.report.verification
    if not outcome.report.fixes:
        return
    if not outcome.report.summary.verified:
        raise FullgraphError(
            "the fixes failed verification together, so nothing was written; the report has the "
            "reason"
        )
    if verification.is_slower:
        raise FullgraphError("a call is slower with these fixes, so nothing was written")
    _name_unsafe(outcome)
    changes = user_changes(outcome.plan, outcome.main_file)
    if changes:
        apply_changes(changes, force=force)
    for change in changes:
        click.echo(f"wrote {display_path(change.path)}", err=True)
    for package, patch in third_party_patches(outcome.plan, outcome.main_file).items():
        name = write_patch(package, patch)
        click.echo(f"wrote {name}: {package} is not your code", err=True)
    _name_unwritten(outcome.report, target)


def _name_unsafe(outcome: FixOutcome) -> None:
    """Name the fixes that the plan does not have; FullgraphError if nothing is left to write."""
    from fullgraph.errors import FullgraphError

    if outcome.why_none:
        raise FullgraphError(f"nothing was written: {outcome.why_none}")
    allowed = {"safe", "assumes", "changes"} if outcome.unsafe else {"safe"}
    left = [fix for fix in outcome.report.fixes if fix.grade not in allowed]
    if len(left) == len(outcome.report.fixes):
        raise FullgraphError(
            "nothing was written: no call runs the changed lines, so no fix is verified"
            if all(fix.grade == "unverified" for fix in left)
            else "nothing was written: no fix is safe; the report names what each assumes or "
            "changes, and --unsafe writes them anyway"
        )
    if left:
        places = dict.fromkeys(f"{fix.fixer} at line {fix.location.line}" for fix in left)
        hint = "" if outcome.unsafe else "; --unsafe writes those that assume or change something"
        click.echo(f"not written, because not safe: {', '.join(places)}{hint}", err=True)


def _name_unwritten(report: FixReport, target: tuple[str, ...]) -> None:
    """Name the fixes that no file can hold: value guards exist only in a running process."""
    from fullgraph.fix.report.diff import display_path

    if all(fix.kind != "guard" for fix in report.fixes):
        return
    places = [f"{display_path(guard.file)}:{guard.line}" for guard in report.guards]
    where = f" at {', '.join(dict.fromkeys(places))}" if places else ""
    click.echo(
        f"not written: value guards{where}; use fullgraph run --fix {shlex.join(target)}", err=True
    )
