"""The one exception tree. A message is one line that says what is wrong and what to do next."""

from __future__ import annotations


class FullgraphError(Exception):
    """Bad input or a missing prerequisite; the command line prints it and exits with 2."""


class SessionError(FullgraphError):
    """A session file that cannot be read."""


class CaptureError(FullgraphError):
    """torch is missing, too old, or lacks something that capturing needs."""


class ProgramError(FullgraphError):
    """The program that was to be run cannot be started."""


class RegistryError(FullgraphError):
    """A registry that cannot be read or fetched, or an entry that is not in it."""
