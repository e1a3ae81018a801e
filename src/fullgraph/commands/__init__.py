"""The command line: one file per subcommand, found by listing this folder.

A file has a click command named `command`, whose docstring is its help. The file is imported when
its command is used, or when `--help` lists it, so it must not import anything slow at the top.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from fullgraph import __version__


class Commands(click.Group):
    """Loads `commands/NAME.py` for `fullgraph NAME`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands, without importing them."""
        files = Path(__file__).parent.glob("*.py")
        return sorted(file.stem for file in files if not file.stem.startswith("_"))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a subcommand; None if there is no such file."""
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"fullgraph.commands.{name}").command
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fullgraph")
def cli() -> None:
    """Find, explain and fix the graph breaks of torch.compile."""
