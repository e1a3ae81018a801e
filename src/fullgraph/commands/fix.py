from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from fullgraph.commands.run import RunCommand

if TYPE_CHECKING:
    from fullgraph.fix.pipeline import Fixed

# Less is slower than this only by noise.
_SLOWER = 0.95


@click.command(cls=RunCommand, options_metavar="[OPTIONS]")
@click.option("--apply", "apply_", is_flag=True, help="Write the fixes to your own files.")
@click.option("--undo", "undo_", is_flag=True, help="Take the last --apply back.")
@click.option("--force", is_flag=True, help="Write although git could not give the old text back.")
@click.option("--only", type=click.Choice(["settings"]), help="What configuration alone can do.")
@click.option(
    "--time", "seconds", type=click.FloatRange(min=5), default=120.0, show_default=True,
    metavar="SECONDS", help="Stop looking for fixes after that.",
)  # fmt: skip
@click.option(
    "--backend", "backends", multiple=True, metavar="NAME",
    help="Prove it with this backend too, besides eager and aot_eager.",
)  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json", "diff"]), default="text",
              show_default=True)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE.")
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
    """Remove graph breaks from a program, and show only what is proven.

    The program is run once in eager, and its calls are recorded. Every candidate fix is tried on
    them, and on inputs like them: the results, gradients, effects and errors must stay the same
    and the break must go. Nothing is written without --apply, which may also come last.
    """
    from fullgraph.capture.process import check_program, check_torch
    from fullgraph.files import check_writable
    from fullgraph.fix.pipeline import fix_program

    if undo_:
        _undo(force)
        return
    target, last = _own_flags(target)
    apply_, force = apply_ or "--apply" in last, force or "--force" in last
    check_program(target)
    check_torch()
    if output is not None:
        check_writable(output)
    if apply_ and not force and target[0] != "-m":
        # Now, and not after two minutes of work.
        from fullgraph.fix.apply import require_clean

        require_clean(target[0])
    fixed = fix_program(
        target, seconds=seconds, tell=tell, only_settings=only == "settings", backends=backends
    )
    _show(fixed, target, format_, output)
    if apply_:
        _apply(fixed, target, force)


def _own_flags(target: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The program, and what follows it but is ours: asking for more comes to mind last."""
    end = len(target)
    while end > 1 and target[end - 1] in ("--apply", "--force"):
        end -= 1
    return target[:end], target[end:]


def tell(message: str) -> None:
    """What is going on, on one line that the next one replaces."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K  {message} …", nl=False, err=True)


def _undo(force: bool) -> None:
    from fullgraph.fix.apply import undo

    for path in undo(force=force):
        click.echo(f"put back {path}")


def _show(fixed: Fixed, target: tuple[str, ...], format_: str, output: str | None) -> None:
    from fullgraph.files import replace_file

    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    text = _text(fixed, target, format_, sys.stdout.isatty() and output is None)
    if output is not None:
        replace_file(output, [text.encode()])
    else:
        click.echo(text, nl=False)


def _text(fixed: Fixed, target: tuple[str, ...], format_: str, terminal: bool) -> str:
    if format_ == "diff":
        return fixed.report.diff
    if format_ == "json":
        from msgspec import json

        return json.format(json.encode(fixed.report)).decode() + "\n"
    from fullgraph.commands._terminal import terminal_size
    from fullgraph.render.fix.text import lines_of
    from fullgraph.terminal import Terminal

    shown = Terminal(*terminal_size()) if terminal else Terminal(100)
    return "".join(f"{line}\n" for line in lines_of(fixed.report, shown, shlex.join(target)))


def _apply(fixed: Fixed, target: tuple[str, ...], force: bool) -> None:
    from pathlib import Path

    from fullgraph.errors import FullgraphError
    from fullgraph.files import replace_file
    from fullgraph.fix.apply import apply_changes, own_changes, upstream_patches

    proof = fixed.report.proof
    if not fixed.report.fixes:
        return
    if not fixed.report.summary.proven:
        raise FullgraphError("the fixes could not be proven together: nothing was written")
    if proof.speedup is not None and proof.speedup < _SLOWER and not force:
        raise FullgraphError(
            f"a call takes {1 / proof.speedup:.2f} times as long with these fixes: nothing was "
            "written; use --force to apply them all the same"
        )
    script = target[0] if target[0] != "-m" else None
    changes = own_changes(fixed.plan, set(fixed.own), script)
    if changes:
        apply_changes(changes, force=force)
    for change in changes:
        click.echo(f"wrote {Path(change.path).name}", err=True)
    for package, patch in upstream_patches(fixed.plan, set(fixed.own)).items():
        name = f"fullgraph-{package}.patch"
        replace_file(name, [patch.encode()])
        click.echo(f"wrote {name}, for {package}: it is not your code", err=True)
