"""Consent to run code that somebody else wrote: asked for once per project, and remembered."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fullgraph.errors import FullgraphError


def require_consent(project: str, *, given: bool) -> None:
    """Return if the user consents to running changed code in a project; FullgraphError if not.

    `given` is for this time only. An answer at the terminal is remembered.
    """
    if given or project in _remembered():
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        raise FullgraphError(
            f"code of the change would run in {project}, which is not allowed yet; add --yes"
        )
    question = f"Run code of changes, confined, to verify them in {project}?"
    if not click.confirm(question, err=True):
        raise FullgraphError("nothing of the change has run, because it was not allowed")
    _remember(project)


def _remembered() -> list[str]:
    try:
        return _file().read_text().splitlines()
    except OSError:
        return []


def _remember(project: str) -> None:
    from fullgraph.files import replace_file

    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    projects = dict.fromkeys([*_remembered(), project])
    replace_file(str(file), ["".join(f"{each}\n" for each in projects).encode()])


def _file() -> Path:
    from fullgraph.folders import consents_file

    return consents_file()
