"""`fullgraph verify`: verify a change that somebody else wrote."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from fullgraph.commands._consent import require_consent
from fullgraph.commands._output import deliver, format_option
from fullgraph.commands._progress import progress_line
from fullgraph.commands.run import RunCommand
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.fix.verify.change import FileChange
    from fullgraph.fix.verify.report import VerifyReport
    from fullgraph.fix.verify.session import Options

_NOT_VERIFIED = 1
_INTERRUPTED = 130


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@click.option(
    "--patch",
    metavar="FILE",
    help="Verify this diff of the files as they are; - is standard input.",
)
@click.option(
    "--rev", "revision", metavar="REVISION",
    help="Verify what the work tree changes in this revision of git.",
)  # fmt: skip
@click.option("--worktree", is_flag=True, help="The same as --rev HEAD.")
@click.option("--backend", "backends", multiple=True, metavar="NAME",
    help="Also verify with this backend (eager and aot_eager are always used).",
)  # fmt: skip
@click.option(
    "--time", "seconds", type=click.IntRange(min=1), metavar="SECONDS",
    help="CPU time of each process that runs changed code.  [default: 60, or 20 times that of the "
    "original]",
)  # fmt: skip
@click.option(
    "--no-rerun", is_flag=True,
    help="Refuse changes outside of functions instead of running the whole changed program.",
)  # fmt: skip
@click.option(
    "--allow-read", "reads", multiple=True, metavar="PATH",
    help="Let changed code read this file or folder, besides the project.",
)  # fmt: skip
@click.option(
    "--pass-env", "variables", multiple=True, metavar="NAME",
    help="Give the program this variable, although its name looks like that of a key.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Allow code of the change to run, without asking.")
@click.option(
    "--unconfined", is_flag=True,
    help="Run code of the change without confining it. Only for changes that you trust.",
)  # fmt: skip
@format_option("verify")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output."
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARG]...")
def command(
    target: tuple[str, ...],
    patch: str | None,
    revision: str | None,
    worktree: bool,
    backends: tuple[str, ...],
    seconds: int | None,
    no_rerun: bool,
    reads: tuple[str, ...],
    variables: tuple[str, ...],
    yes: bool,
    unconfined: bool,
    format_: str,
    output: str | None,
) -> None:
    """Verify a change of a program that somebody else wrote.

    Runs the program as it was and records its calls. The changed code then makes the same calls,
    varied ones and probes, in processes that can write and reach nothing, and its outcomes are
    compared in a process that never loads it. The verdict is verified, unverified (something that
    changes never ran), different or refused. No file is changed. Exit code: 0 if the change is
    verified, 1 if it is not, 2 if nothing could be verified.
    """
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.files import check_writable

    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    from fullgraph.fix.verify.session import Options

    options = Options(
        backends=backends,
        seconds=seconds,
        confined=not unconfined,
        reruns=not no_rerun,
        reads=reads,
        variables=variables,
    )
    changes = _changes(target, patch, "HEAD" if worktree and revision is None else revision)
    if worktree and revision is not None:
        raise FullgraphError("--worktree is the same as --rev HEAD; give one of them")
    report = _report(target, changes, options, consents=yes)
    deliver("verify", report, format_, output=output)
    if report.verdict != "verified":
        sys.exit(_NOT_VERIFIED)


def _changes(
    target: tuple[str, ...], patch: str | None, revision: str | None
) -> tuple[FileChange, ...]:
    from fullgraph.fix.verify.patch import read_patch
    from fullgraph.fix.verify.revision import changes_since
    from fullgraph.fix.verify.session import main_file_of

    if (patch is None) == (revision is None):
        what = "there is no change to verify" if patch is None else "there are two changes"
        raise FullgraphError(f"{what}; give one of --patch FILE, --rev REVISION and --worktree")
    if revision is not None:
        return changes_since(revision, main_file_of(target))
    assert patch is not None
    return read_patch(_text(patch))


def _text(patch: str) -> str:
    try:
        if patch == "-":
            return sys.stdin.buffer.read().decode()
        with open(patch, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise FullgraphError(f"cannot read {patch}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FullgraphError(f"cannot read {patch}: it is not UTF-8 text") from None


def _report(
    target: tuple[str, ...], changes: tuple[FileChange, ...], options: Options, *, consents: bool
) -> VerifyReport:
    from fullgraph.fix.verify.session import (
        ANNOUNCEMENT,
        check_confinement,
        concerns_more_than_calls,
        main_file_of,
        project_of,
        refused_report,
        verify,
    )

    main_file = main_file_of(target)
    refused = refused_report(changes, main_file, reruns=options.reruns)
    if refused is not None:
        return refused
    if options.confined:
        check_confinement()
    require_consent(project_of(main_file), given=consents)
    if concerns_more_than_calls(changes):
        click.echo(f"fullgraph: {ANNOUNCEMENT}", err=True)
    try:
        with progress_line() as progress:
            return verify(target, changes, options, progress=progress)
    except KeyboardInterrupt:
        click.echo("fullgraph: interrupted; nothing is verified", err=True)
        sys.exit(_INTERRUPTED)
