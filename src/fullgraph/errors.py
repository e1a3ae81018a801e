"""The exceptions of fullgraph. A message is one line: a fact, then what to do."""

from __future__ import annotations


class FullgraphError(Exception):
    """Bad input or a missing prerequisite. The command line prints it and exits with the code."""

    exit_code = 2


class SessionError(FullgraphError):
    """A session cannot be read or kept."""


class ReportError(FullgraphError):
    """A JSON report cannot be read."""


class CaptureError(FullgraphError):
    """torch is missing, too old, or lacks a function that capturing needs."""


class ProgramError(FullgraphError):
    """The program to run cannot be started."""


class RegistryError(FullgraphError):
    """A registry cannot be read or downloaded, or does not have an entry."""
