"""What `--apply` and `--undo` write, and what they say about it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.fix.apply import Change
    from fullgraph.fix.model import ProgramRecorded
    from fullgraph.fix.pipeline import FixOutcome
    from fullgraph.fix.report.model import Fix, FixReport


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


def write_fixes(
    outcome: FixOutcome, target: tuple[str, ...], *, force: bool, reruns: bool = True
) -> None:
    """Write the fixes to the user's files and to patches; say what was and was not written."""
    from fullgraph.fix.apply import apply_changes, user_changes, write_patch
    from fullgraph.fix.apply.copy_check import check_syntax
    from fullgraph.fix.report.diff import display_path

    if not outcome.report.fixes:
        return
    _require_good(outcome)
    _name_unsafe(outcome)
    changes = user_changes(outcome.plan, outcome.main_file)
    recorded = outcome.recorded
    if recorded is not None:
        # After the texts were read, and before a change of one could look like an error of a fix.
        _require_unchanged([each.path for each in changes], recorded)
    check_syntax(changes)
    if changes:
        if recorded is not None and reruns:
            _check_copy(outcome, target, changes, recorded)
        apply_changes(changes, force=force)
    for change in changes:
        click.echo(f"wrote {display_path(change.path)}", err=True)
    for package, patch in outcome.patches.items():
        name = write_patch(package, patch)
        click.echo(f"wrote {name}: {package} is not your code", err=True)
    _name_guards(outcome.report, target)


def _require_good(outcome: FixOutcome) -> None:
    if not outcome.report.summary.verified:
        raise FullgraphError(
            "the fixes failed verification together, so nothing was written; the report has the "
            "reason"
        )
    if outcome.report.verification.is_slower:
        raise FullgraphError("a call is slower with these fixes, so nothing was written")


def _require_unchanged(paths: Sequence[str], recorded: ProgramRecorded) -> None:
    """Check that files have the text that ran; FullgraphError if one was changed since then."""
    from fullgraph.fix.record.loaded_sources import has_changed
    from fullgraph.fix.report.diff import display_path

    for path in paths:
        if has_changed(path, recorded.sources, recorded.started):
            raise FullgraphError(
                f"{display_path(path)} was changed while fullgraph fix was running, so nothing was "
                "written; run it again"
            )


def _check_copy(
    outcome: FixOutcome,
    target: tuple[str, ...],
    changes: Sequence[Change],
    recorded: ProgramRecorded,
) -> None:
    from fullgraph.fix.apply.copy_check import ANNOUNCEMENT, check_copy

    click.echo(f"{ANNOUNCEMENT} (--no-rerun does not)", err=True)
    check_copy(target, changes, outcome.plan.settings, recorded)


def _name_unsafe(outcome: FixOutcome) -> None:
    """Name the fixes that the plan does not have; FullgraphError if nothing is left to write."""
    if outcome.why_none:
        raise FullgraphError(f"nothing was written: {outcome.why_none}")
    allowed = {"safe", "assumes", "changes"} if outcome.unsafe else {"safe"}
    fixes = outcome.report.fixes
    left = [fix for fix in fixes if fix.grade not in allowed]
    if len(left) == len(fixes):
        raise FullgraphError(
            "nothing was written: no call runs the changed lines, so no fix is verified"
            if all(fix.grade == "unverified" for fix in left)
            else "nothing was written: no fix is safe; the report names what each assumes or "
            "changes, and --unsafe writes them anyway"
        )
    if left:
        hint = "" if outcome.unsafe else "; --unsafe writes those that assume or change something"
        click.echo(f"not written, because not safe: {_places(left)}{hint}", err=True)
    without_rerun = [
        fix
        for fix, why in zip(fixes, outcome.left_out, strict=False)
        if "--no-rerun" in why and fix not in left
    ]
    if without_rerun:
        reason = (
            f"{_places(without_rerun)} {'changes' if len(without_rerun) == 1 else 'change'} code "
            "outside of functions, which only running the program again verifies"
        )
        if len(left) + len(without_rerun) == len(fixes):
            raise FullgraphError(f"nothing was written: {reason}; leave out --no-rerun")
        click.echo(f"not written because of --no-rerun: {reason}", err=True)


def _places(fixes: Sequence[Fix]) -> str:
    return ", ".join(dict.fromkeys(f"{fix.fixer} at line {fix.location.line}" for fix in fixes))


def _name_guards(report: FixReport, target: tuple[str, ...]) -> None:
    """Name the fixes that no file can hold: value guards exist only in a running process."""
    from fullgraph.fix.report.diff import display_path

    if all(fix.kind != "guard" for fix in report.fixes):
        return
    places = [f"{display_path(guard.file)}:{guard.line}" for guard in report.guards]
    where = f" at {', '.join(dict.fromkeys(places))}" if places else ""
    click.echo(
        f"not written: value guards{where}; use fullgraph run --fix {shlex.join(target)}", err=True
    )
